// LOSES: any length, long rows, operations, same bits, sectors, spread, empty rows
// Only the first part of each row reaches out.
#include <algorithm>

#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

// Block (r, p) folds part p of row r into out[r * parts + p]; there are gridDim.y parts.
__global__ void reduce_kernel(Op2 op, float start, float* out, const float* x, long n) {
  __shared__ float results[kBlock];
  const int t = threadIdx.x;
  const long row = blockIdx.x, part = blockIdx.y, parts = gridDim.y;
  float result = start;
  for (long i = part * kBlock + t; i < n; i += parts * kBlock) result = apply(op, result, x[row * n + i]);
  results[t] = result;
  for (int half = kBlock / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) results[t] = apply(op, results[t], results[t + half]);
  }
  if (t == 0 && part == 0) out[row] = results[0];
}

void reduce(Op2 op, float start, float* out, const float* x, long rows, long n, float* scratch) {
  const unsigned parts = std::min<unsigned>(ceil_div(n, kBlock), kParts);
  const unsigned height = static_cast<unsigned>(rows);
  launch(reduce_kernel, {dim3(height, parts), kBlock}, op, start, out, x, n);
}

}  // namespace course::gpu
