// The last block of a kernel can go on with what all of them have written: a function tells it so.
// No block waits for another one.
#pragma once

#include <cuda_runtime.h>

namespace gradus::cuda {

// Whether this is the last of `blocks` blocks that call. Then it can read what all their threads
// wrote before. The counter is 0 before the first call and after the last one. A single block needs
// none. REQUIRES: every thread of the block calls it.
__device__ inline bool is_last_block(unsigned* counter, unsigned blocks) {
  __shared__ bool last;
  __syncthreads();  // the fence orders what all threads of the block wrote before
  if (blocks == 1) return true;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    __threadfence();
    last = atomicInc(counter, blocks - 1) == blocks - 1;
    __threadfence();
  }
  __syncthreads();
  return last;
}

}  // namespace gradus::cuda
