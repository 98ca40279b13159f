// Programmatic dependent launch (PDL): the first statement of every kernel, by which kernels follow
// one another without a gap.
//
// Idea. A GPU starts a kernel about a microsecond after the one before it has ended. A kernel that
// launch_pdl() (runtime/launch.h) queues starts as soon as the last block of its predecessor has
// ended. Then it waits itself until the predecessor's writes can be read. CUDA calls this
// programmatic dependent launch; its Programming Guide has a chapter on it.
// A kernel can let the next one start sooner (cudaTriggerProgrammaticLaunchCompletion). But then
// the next blocks crowd on the few multiprocessors that have room, and small products take longer.
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

}  // namespace gradus::cuda
