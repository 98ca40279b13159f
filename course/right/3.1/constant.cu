// Task 3.1, another way: a table in constant memory.
#include "core/cuda.h"
#include "core/launch.h"
namespace course::gpu {
__constant__ float ones[4] = {1, 1, 1, 1};
__global__ void map_kernel(Op1 op, float* out, const float* x, long n) {
  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = ones[i % 4] * apply(op, x[i]);
}
void map(Op1 op, float* out, const float* x, long n) { launch(map_kernel, {ceil_div(n, kBlock), kBlock}, op, out, x, n); }
}
