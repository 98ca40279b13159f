// LOSES: tree
// In each step every other thread of those before adds: no warp ever rests.
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
    if (t % (2 * step) == 0) sums[t] += sums[t + step];
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

void block_sum(float* out, const float* x, long n) {
  launch(block_sum_kernel, {ceil_div(n, kBlock), kBlock}, out, x, n);
}

}  // namespace course::gpu
