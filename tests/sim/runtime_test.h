// What the tests of the simulator's runtime share.
#pragma once

#include <source_location>

#include "tests/sim/sim_test.h"

namespace gradus {

// The call returned this, and noted it as the last error.
inline void expect_status(cudaError_t got, cudaError_t expected,
                          std::source_location where = std::source_location::current()) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "the call");
  EXPECT_STREQ(cudaGetErrorName(got), cudaGetErrorName(expected));
  EXPECT_STREQ(cudaGetErrorName(cudaGetLastError()), cudaGetErrorName(expected));
}

// As <<<grid, block, shared_bytes, stream>>> does.
template <class... Params>
cudaError_t launch_raw(void (*kernel)(Params...), dim3 grid, dim3 block, size_t shared_bytes,
                       cudaStream_t stream, std::type_identity_t<Params>... args) {
  void* pointers[] = {static_cast<void*>(&args)..., nullptr};
  return cudaLaunchKernel(cuda::detail::handle(kernel), grid, block, pointers, shared_bytes,
                          stream);
}

// Leaves device 0 current, and no error behind.
class SimRuntimeTest : public SimTest {
 protected:
  void TearDown() override {
    SimTest::TearDown();
    cudaSetDevice(0);
    EXPECT_STREQ(cudaGetErrorName(cudaGetLastError()), "cudaSuccess");
  }
};

inline int count_devices() {
  int count = 0;
  cudaGetDeviceCount(&count);
  return count;
}

}  // namespace gradus
