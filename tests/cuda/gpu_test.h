// The base of a test that needs a GPU: skipped, with the reason, where there is none.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "gradus/cuda/cuda.h"

namespace gradus {

// A simulated device has done all work when it was queued, and takes its time for it.
#ifdef GRADUS_SIMULATED
inline constexpr bool kSimulated = true;
#else
inline constexpr bool kSimulated = false;
#endif

// So many elements keep a device busy while the host goes on to queue more.
inline constexpr int64_t kBusyElements = int64_t{1} << (kSimulated ? 14 : 26);

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  }
};

// The message of the E that f throws; a failure where it throws none.
template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "an error of another type: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

}  // namespace gradus
