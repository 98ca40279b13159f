// Task 3.1: an operation on each element of an array, one thread for each.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void map_kernel(Op1 op, float* out, const float* x, long n) {
  // BEGIN SOLUTION 3.1 kernel
  const long i = blockIdx.x * long{kBlock} + threadIdx.x;
  if (i < n) out[i] = apply(op, x[i]);
  // END SOLUTION 3.1
}

void map(Op1 op, float* out, const float* x, long n) {
  // BEGIN SOLUTION 3.1
  launch(map_kernel, {ceil_div(n, kBlock), kBlock}, op, out, x, n);
  // END SOLUTION 3.1
}

}  // namespace course::gpu
