// LOSES: same bits
// Where there are many rows, fewer parts share each: the order of the operations depends on the number of rows.
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
  if (t == 0) out[row * parts + part] = results[0];
}

void reduce(Op2 op, float start, float* out, const float* x, long rows, long n, float* scratch) {
  const unsigned parts = std::min<unsigned>(ceil_div(n, kBlock), rows > 4 ? kParts / 8 : kParts);
  const unsigned height = static_cast<unsigned>(rows);
  launch(reduce_kernel, {dim3(height, parts), kBlock}, op, start, scratch, x, n);
  launch(reduce_kernel, {height, kBlock}, op, start, out, scratch, parts);
}

}  // namespace course::gpu
