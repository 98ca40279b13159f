// What a NanGuard finds while a function runs, and the base of tests on every device.
#pragma once

#include <limits>
#include <string>

#include "gradus/watch/guard/nan_guard.h"
#include "tests/support.h"

// Frames whose names begin with gradus:: are the library's, and not the program's.
namespace guarded {

using namespace gradus;

inline const double inf = std::numeric_limits<double>::infinity(),
                    nan = std::numeric_limits<double>::quiet_NaN();

// What f is told of by the guard that it is given, at the latest where the guard is asked.
template <class F>
NanReport report_of(const F& f) {
  NanGuard guard;
  try {
    f();
    guard.check();
  } catch (const NanError& error) {
    EXPECT_STREQ(error.what(), error.report().message.c_str());
    return error.report();
  }
  ADD_FAILURE() << "nothing was found";
  return {};
}

template <class F>
void expect_silence(const char* what, const F& f) {
  SCOPED_TRACE(what);
  NanGuard guard;
  try {
    f();
    guard.check();
  } catch (const NanError& error) {
    ADD_FAILURE() << error.what();
  }
}

inline void expect_part(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message << "\nexpected in it: " << part;
}

inline Tensor row(std::vector<double> values, Device device, ScalarType dtype = kFloat) {
  return tensor(values, kDouble).to(device, dtype);
}

class OnEachDevice : public testing::TestWithParam<DeviceType> {
 protected:
  void SetUp() override {
    if (GetParam() == kCUDA && !cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  }
  Device device() const { return GetParam() == kCUDA ? Device(kCUDA, 0) : Device(kCPU); }
  // What messages say of the device.
  std::string on() const { return GetParam() == kCUDA ? ", cuda:0" : ""; }
};

inline std::string name_of_guarded(const testing::TestParamInfo<DeviceType>& on) {
  return on.param == kCPU ? "CPU" : "CUDA";
}

}  // namespace guarded
