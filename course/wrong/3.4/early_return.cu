// LOSES: tail, fractions, loads
// Threads without an element return, and miss the barriers.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void block_sum_kernel(float* out, const float* x, long n) {
  __shared__ float sums[kBlock];
  const int t = threadIdx.x;
  const long i = blockIdx.x * long{kBlock} + t;
  if (i >= n) return;
  sums[t] = x[i];
  for (int half = kBlock / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sums[t] += sums[t + half];
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

void block_sum(float* out, const float* x, long n) {
  launch(block_sum_kernel, {ceil_div(n, kBlock), kBlock}, out, x, n);
}

}  // namespace course::gpu
