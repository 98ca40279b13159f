// What the tests of the simulator share: memory of a device, and a fixture in which nothing may be
// found but what a test takes.
#pragma once

#include <cuda_runtime_api.h>

#include <sstream>
#include <string>
#include <vector>

#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/cuda/sim/simulator.h"
#include "tests/cuda/gpu_test.h"

namespace gradus {

using cuda::launch;

// An array in the memory of the current device.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t size) : size_(size) {
    cuda::check_cuda(cudaMalloc(&data_, size * sizeof(T)), "test");
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    cuda::check_cuda(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice),
                     "test");
  }
  DeviceArray(size_t size, T value) : DeviceArray(std::vector<T>(size, value)) {}
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  operator T*() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> out(size_);
    cuda::check_cuda(cudaMemcpy(out.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost),
                     "test");
    return out;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

class SimTest : public GpuTest {
 protected:
  void TearDown() override {
    for (const cuda::sim::Finding& each : cuda::sim::take_findings())
      ADD_FAILURE() << "was found: " << each;
  }
};

// A test of what the simulator finds.
class SimFindingsTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    if (!cuda::sim::checks()) GTEST_SKIP() << "GRADUS_SIM_CHECK=0: the simulator does not check";
  }
};

inline std::string text_of(const std::vector<cuda::sim::Finding>& findings) {
  std::ostringstream out;
  for (const cuda::sim::Finding& each : findings) out << each;
  return out.str();
}

// Of the one launch that f makes.
template <class F>
cuda::sim::LaunchCounts counts_of(F&& f) {
  const cuda::sim::Recording recording;
  f();
  const std::vector<cuda::sim::LaunchCounts> launches = recording.launches();
  EXPECT_EQ(launches.size(), 1u);
  return launches.empty() ? cuda::sim::LaunchCounts{} : launches.back();
}

}  // namespace gradus
