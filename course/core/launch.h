// launch: starts a kernel, on a GPU and on simulated devices.
//
//   launch(map_kernel, {blocks, threads}, op, out, x, n);
//   launch(block_sum_kernel, {blocks, threads, shared_bytes}, out, x, n);
//
// blocks and threads are numbers, or dim3 for two and three dimensions.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#include <type_traits>

#ifndef COURSE_GPU
// A mark without an effect, by which the judge tells kernels from other functions.
#undef __global__
#define __global__ __attribute__((no_icf))
#endif

namespace course {

// Errors of CUDA: a launch that the device refuses, or what an earlier kernel did wrong.
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

struct Grid {
  dim3 blocks, threads;
  size_t shared_bytes = 0;  // of `extern __shared__` arrays
};

// Queues kernel(args...); a grid without blocks is nothing to do.
template <class... Params>
void launch(void (*kernel)(Params...), Grid grid, std::type_identity_t<Params>... args) {
  static_assert(!(std::is_reference_v<Params> || ...), "a kernel takes its arguments by value");
  if (grid.blocks.x == 0 || grid.blocks.y == 0 || grid.blocks.z == 0) return;
  void* pointers[] = {static_cast<void*>(&args)..., nullptr};
#ifdef COURSE_GPU
  const auto handle = reinterpret_cast<const void*>(kernel);
#else
  const void* const handle = gradus::cuda::sim::handle(kernel);
#endif
  check(cudaLaunchKernel(handle, grid.blocks, grid.threads, pointers, grid.shared_bytes, nullptr), "launch");
}

inline unsigned ceil_div(long a, long b) { return static_cast<unsigned>((a + b - 1) / b); }

}  // namespace course
