// LOSES: loads, sectors, banks
// One thread an element, and everything from global memory.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void matmul_tiled_kernel(float* c, const float* a, const float* b, int m, int n, int k) {
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += a[row * k + p] * b[p * n + column];
  c[row * n + column] = sum;
}

void matmul_tiled(float* c, const float* a, const float* b, int m, int n, int k) {
  launch(matmul_tiled_kernel, {dim3(ceil_div(n, kTile), ceil_div(m, kTile)), dim3(kTile, kTile)}, c, a, b, m, n, k);
}

}  // namespace course::gpu
