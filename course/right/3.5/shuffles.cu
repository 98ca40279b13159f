// Warps fold by shuffles, and one part needs one launch.
#include <algorithm>
#include "core/cuda.h"
#include "core/launch.h"
namespace course::gpu {
__global__ void reduce_kernel(Op2 op, float start, float* out, const float* x, long n) {
  __shared__ float warps[kBlock / 32];
  const float* row = x + (long)blockIdx.x * n;
  float v = start;
  for (long i = (long)blockIdx.y * kBlock + threadIdx.x; i < n; i += (long)gridDim.y * kBlock)
    v = apply(op, v, row[i]);
  for (int d = 16; d; d >>= 1) v = apply(op, v, __shfl_xor_sync(~0u, v, d));
  if (threadIdx.x % warpSize == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < 8 ? warps[threadIdx.x] : start;
    for (int d = 4; d; d >>= 1) v = apply(op, v, __shfl_down_sync(0xffffffff, v, d));
    if (threadIdx.x == 0) out[(long)blockIdx.x * gridDim.y + blockIdx.y] = v;
  }
}
void reduce(Op2 op, float start, float* out, const float* x, long rows, long n, float* scratch) {
  const unsigned parts = n >= kParts * kBlock ? kParts : 1;
  float* to = parts == 1 ? out : scratch;
  launch(reduce_kernel, {dim3((unsigned)rows, parts), kBlock}, op, start, to, x, n);
  if (parts > 1)
    launch(reduce_kernel, {dim3((unsigned)rows), kBlock}, op, start, out, scratch, (long)parts);
}
}  // namespace course::gpu
