// Task 6.7, another way: sums of chunks first, then each chunk once, by shuffles of warps.
#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

// The sum of the numbers of all threads up to this one, in a block of 512.
__device__ float up_to(float mine, float* warps) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned step = 1; step < 32; step *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, mine, step);
    if (lane >= step) mine += other;
  }
  if (lane == 31) warps[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    float sum = lane < 16 ? warps[lane] : 0;
    for (unsigned step = 1; step < 16; step *= 2) {
      const float other = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += other;
    }
    if (lane < 16) warps[lane] = sum;
  }
  __syncthreads();
  const float before = warp > 0 ? warps[warp - 1] : 0;
  __syncthreads();
  return before + mine;
}

__global__ void total(float* sums, const float* x, long n) {
  __shared__ float warps[16];
  const long i = blockIdx.x * 512L + threadIdx.x;
  const float sum = up_to(i < n ? x[i] : 0, warps);
  if (threadIdx.x == 511) sums[blockIdx.x] = sum;
}

__global__ void totals(float* sums, long chunks) {
  __shared__ float warps[16];
  __shared__ float last;
  float before = 0;
  for (long start = 0; start < chunks; start += 512) {
    const long i = start + threadIdx.x;
    const float sum = before + up_to(i < chunks ? sums[i] : 0, warps);
    if (i < chunks) sums[i] = sum;
    if (threadIdx.x == 511) last = sum;
    __syncthreads();
    before = last;
    __syncthreads();
  }
}

__global__ void all(float* out, const float* sums, const float* x, long n) {
  __shared__ float warps[16];
  const long i = blockIdx.x * 512L + threadIdx.x;
  const float sum = up_to(i < n ? x[i] : 0, warps);
  if (i < n) out[i] = (blockIdx.x > 0 ? sums[blockIdx.x - 1] : 0) + sum;
}

void scan(float* out, float* sums, const float* x, long n) {
  const unsigned chunks = ceil_div(n, kScanned);
  launch(total, {chunks, 512}, sums, x, n);
  if (chunks > 0) launch(totals, {1, 512}, sums, long{chunks});
  launch(all, {chunks, 512}, out, sums, x, n);
}

}  // namespace course::gpu
