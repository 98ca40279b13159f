// LOSES: edge below
// Threads below c are not held back.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void matmul_coalesced_kernel(float* c, const float* a, const float* b, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += a[row * k + p] * b[p * n + column];
  c[row * n + column] = sum;
}

void matmul_coalesced(float* c, const float* a, const float* b, int m, int n, int k) {
  const dim3 threads(32, 8);
  launch(matmul_coalesced_kernel, {dim3(ceil_div(n, threads.x), ceil_div(m, threads.y)), threads}, c, a, b, m, n, k);
}

}  // namespace course::gpu
