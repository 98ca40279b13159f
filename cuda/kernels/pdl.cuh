// Programmatic dependent launch (PDL): the first statement of every kernel, by which kernels follow
// one another without a gap.
//
// Idea. A GPU starts a kernel about a microsecond after the one before it has ended. A kernel that
// launch_pdl() (runtime/launch.h) queues starts as soon as the last block of its predecessor has
// ended. Then it waits itself until the predecessor's writes can be read. CUDA calls this
// programmatic dependent launch; its Programming Guide has a chapter on it.
// A kernel can let the next one start sooner. But then the next blocks crowd on the multiprocessors
// that have room, and products take longer where these are few.
#pragma once

#include <cuda_runtime.h>

namespace gradus::cuda {

// Waits until all earlier kernels of the stream have ended and their writes can be read.
// REQUIRES: every thread calls it before it touches memory.
__device__ inline void wait_for_earlier_kernels() {
#if defined(GRADUS_SIMULATED) || __CUDA_ARCH__ >= 900  // before that, kernels start when it is time
  cudaGridDependencySynchronize();
#endif
}

// Lets the blocks of the next kernel take their places once every block of this one has called. The
// next kernel still waits for this one's writes.
__device__ inline void let_next_kernel_start() {
#if defined(GRADUS_SIMULATED) || __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// The same for kernels of a few blocks, which leave room for all of the next one's.
__device__ inline void let_next_kernel_start_if_small() {
  if (gridDim.x <= 32) let_next_kernel_start();
}

// Whether this kernel takes a few rounds of blocks. One of more asks for memory beforehand in vain.
inline constexpr unsigned kFewBlocks = 512;
__device__ inline bool is_few_blocks() { return gridDim.x <= kFewBlocks; }

// Asks for the line of an address in the L2 cache. Nothing is read, so a kernel may ask before it
// waits.
__device__ inline void prefetch([[maybe_unused]] const void* address) {
#if !defined(GRADUS_SIMULATED)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

}  // namespace gradus::cuda
