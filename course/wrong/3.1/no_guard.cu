// LOSES: any length
// Threads beyond n are not held back.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void map_kernel(Op1 op, float* out, const float* x, long n) {
  const long i = blockIdx.x * long{kBlock} + threadIdx.x;
  out[i] = apply(op, x[i]);
}

void map(Op1 op, float* out, const float* x, long n) {
  launch(map_kernel, {ceil_div(n, kBlock), kBlock}, op, out, x, n);
}

}  // namespace course::gpu
