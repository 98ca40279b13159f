// launch: the only way that a kernel starts.
//
//   launch(fill_kernel<float>, {grid, block}, out, n, value);
//   launch(matmul_kernel, {grid, block, shared_bytes, stream}, a, b, c, m, n, k);
//   launch_pdl(...);  // of kernels that wait for earlier ones themselves (kernels/pdl.cuh)
//
// GRADUS_CUDA_BLOCKING=1 in the environment makes it wait for each kernel and name the one at
// fault. Otherwise an error of a kernel comes up at a later wait, and lists the recent launches.
#pragma once

#include <cuda_runtime.h>

#include <source_location>
#include <string>
#include <type_traits>

#include "gradus/cuda/runtime/stream.h"

namespace gradus::cuda {

inline cudaStream_t current_stream() {
  return static_cast<cudaStream_t>(getCurrentCUDAStream().handle());
}

struct LaunchConfig {
  LaunchConfig(dim3 grid_size, dim3 block_size, size_t shared = 0,
               cudaStream_t queue = current_stream(),
               std::source_location place = std::source_location::current())
      : grid(grid_size), block(block_size), shared_bytes(shared), stream(queue), where(place) {}

  dim3 grid, block;
  size_t shared_bytes;  // dynamic; above 48 KiB launch() asks for the larger limit itself
  cudaStream_t stream;
  std::source_location where;
};

namespace detail {
void launch(const void* kernel, const LaunchConfig& config, void** args, bool early = false);

// The handle by which the runtime knows a kernel.
template <class... Params>
const void* handle(void (*kernel)(Params...)) {
#ifdef GRADUS_SIMULATED
  return sim::handle(kernel);
#else
  return reinterpret_cast<const void*>(kernel);
#endif
}
}  // namespace detail

// Queues kernel(args...) on config.stream; a grid without blocks is nothing to do.
// REQUIRES: the stream belongs to the current device.
// Errors: Error where the launch fails; IndexError where an earlier kernel has reported one.
template <class... Params>
void launch(void (*kernel)(Params...), const LaunchConfig& config,
            std::type_identity_t<Params>... args) {
  void* pointers[] = {static_cast<void*>(&args)..., nullptr};
  detail::launch(detail::handle(kernel), config, pointers);
}

// The same, but its blocks may take their places before the kernel before it has ended.
// REQUIRES: the first statement of the kernel is wait_for_earlier_kernels().
template <class... Params>
void launch_pdl(void (*kernel)(Params...), const LaunchConfig& config,
                std::type_identity_t<Params>... args) {
  void* pointers[] = {static_cast<void*>(&args)..., nullptr};
  detail::launch(detail::handle(kernel), config, pointers, true);
}

// Whether GRADUS_CUDA_BLOCKING=1 is set; read once.
bool launches_block();

// The last launches of the process, newest first, one a line: kernel, place, grid, block.
std::string recent_launches();

}  // namespace gradus::cuda
