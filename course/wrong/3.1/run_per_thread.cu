// LOSES: sectors
// Each thread takes 8 elements that lie side by side: the threads of a warp are 8 elements apart.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void map_kernel(Op1 op, float* out, const float* x, long n) {
  constexpr int kRun = 8;
  const long begin = (blockIdx.x * long{kBlock} + threadIdx.x) * kRun;
  for (long i = begin; i < begin + kRun && i < n; ++i) out[i] = apply(op, x[i]);
}

void map(Op1 op, float* out, const float* x, long n) {
  launch(map_kernel, {ceil_div(n, kBlock * 8), kBlock}, op, out, x, n);
}

}  // namespace course::gpu
