// The first statement of every kernel, by which kernels follow one another without a gap.
//
// Idea. Between two kernels of a stream a GPU is idle for about a microsecond: the second one is
// sent when the first has ended and all that it wrote can be read. launch_early() (runtime/launch.h)
// lets it be sent when the last block of the first one ends, and the second one waits for the rest
// itself. CUDA calls this programmatic dependent launch; its Programming Guide has a chapter on it.
// A kernel could let the next one come sooner (cudaTriggerProgrammaticLaunchCompletion). Then
// blocks come together on the few multiprocessors that have room, and small products take longer.
#pragma once

#include <cuda_runtime.h>

namespace gradus::cuda {

// Goes on when all earlier kernels of the stream have ended and what they wrote can be read.
// REQUIRES: every thread calls it before it touches memory.
__device__ inline void wait_for_earlier_kernels() {
#if defined(GRADUS_SIMULATED) || __CUDA_ARCH__ >= 900  // before that, kernels start when it is time
  cudaGridDependencySynchronize();
#endif
}

}  // namespace gradus::cuda
