// LOSES: banks, tree
// Threads add words that are a power of 2 apart: these share banks.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void block_sum_kernel(float* out, const float* x, long n) {
  __shared__ float sums[kBlock];
  const int t = threadIdx.x;
  const long i = blockIdx.x * long{kBlock} + t;
  sums[t] = i < n ? x[i] : 0;
  for (int step = 1; step < kBlock; step *= 2) {
    __syncthreads();
    const int at = 2 * step * t;
    if (at < kBlock) sums[at] += sums[at + step];
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

void block_sum(float* out, const float* x, long n) {
  launch(block_sum_kernel, {ceil_div(n, kBlock), kBlock}, out, x, n);
}

}  // namespace course::gpu
