// LOSES: loads, sectors
// Copies x first, and changes it in a second launch.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void map_kernel(Op1 op, float* out, const float* x, long n, bool first) {
  const long i = blockIdx.x * long{kBlock} + threadIdx.x;
  if (i < n) out[i] = first ? x[i] : apply(op, out[i]);
}

void map(Op1 op, float* out, const float* x, long n) {
  for (const bool first : {true, false}) launch(map_kernel, {ceil_div(n, kBlock), kBlock}, op, out, x, n, first);
}

}  // namespace course::gpu
