// Comparisons that the tests of the CPU's loops share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace gradus::test {

inline void expect_near(double got, double want, const std::string& what) {
  constexpr double kTolerance = 2e-6;  // of float32, relative
  EXPECT_NEAR(got, want, kTolerance * std::max(1.0, std::abs(want))) << what;
}

}  // namespace gradus::test
