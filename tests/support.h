// What tests of several folders share: values of a tensor, and the text of an error.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <typeinfo>
#include <vector>

#include "gradus/gradus.h"

namespace gradus {

// Every kind of device that is there.
inline std::vector<Device> cpu_and_cuda() {
  std::vector<Device> out{kCPU};
  if (cuda::is_available()) out.emplace_back(kCUDA, 0);
  return out;
}

inline std::vector<double> to_vector(const Tensor& x) {
  const Tensor here = x.detach().to(Device(kCPU), kDouble).contiguous();
  return {here.data_ptr<double>(), here.data_ptr<double>() + here.numel()};
}

// Every element within tolerance, relative to its size where that is above 1.
inline void expect_values(const Tensor& x, const std::vector<double>& expected,
                          double tolerance = 1e-6) {
  ASSERT_TRUE(x.defined());
  const std::vector<double> got = to_vector(x);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]))) continue;
    EXPECT_NEAR(got[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << "element " << i;
  }
}

// Compiled once, not for each function that throws.
inline void expect_thrown(void (*call)(void*), void* f, const std::type_info& type,
                          const std::string& part) {
  try {
    call(f);
    FAIL() << "nothing was thrown; expected a message with: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(typeid(error), type) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << "message: " << error.what() << "\nexpected in it: " << part;
  }
}

// f throws exactly E, with a message that contains `part`.
template <class E, class F>
void expect_error(F f, const std::string& part) {
  expect_thrown([](void* called) { (*static_cast<F*>(called))(); }, &f, typeid(E), part);
}

}  // namespace gradus
