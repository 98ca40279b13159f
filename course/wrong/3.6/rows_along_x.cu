// LOSES: sectors
// Neighbouring threads compute neighbours of a column of c: their loads of a and stores are far apart.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void matmul_coalesced_kernel(float* c, const float* a, const float* b, int m, int n, int k) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += a[row * k + p] * b[p * n + column];
  c[row * n + column] = sum;
}

void matmul_coalesced(float* c, const float* a, const float* b, int m, int n, int k) {
  const dim3 threads(32, 8);
  launch(matmul_coalesced_kernel, {dim3(ceil_div(m, threads.x), ceil_div(n, threads.y)), threads}, c, a, b, m, n, k);
}

}  // namespace course::gpu
