// LOSES: any length
// The last elements, which fill no block, get no threads.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void map_kernel(Op1 op, float* out, const float* x, long n) {
  const long i = blockIdx.x * long{kBlock} + threadIdx.x;
  if (i < n) out[i] = apply(op, x[i]);
}

void map(Op1 op, float* out, const float* x, long n) {
  launch(map_kernel, {static_cast<unsigned>(n / kBlock), kBlock}, op, out, x, n);
}

}  // namespace course::gpu
