// LOSES: sectors, spread
// A thread folds a whole row by itself.
#include <algorithm>

#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void reduce_kernel(Op2 op, float start, float* out, const float* x, long rows, long n) {
  const long row = blockIdx.x * long{kBlock} + threadIdx.x;
  if (row >= rows) return;
  float result = start;
  for (long i = 0; i < n; ++i) result = apply(op, result, x[row * n + i]);
  out[row] = result;
}

void reduce(Op2 op, float start, float* out, const float* x, long rows, long n, float* scratch) {
  launch(reduce_kernel, {ceil_div(rows, kBlock), kBlock}, op, start, out, x, rows, n);
}

}  // namespace course::gpu
