// LOSES: loads, loads a product, vectors, banks
// A thread for each element of c, and two loads for each product.
#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void matmul_kernel(float* c, const float* a, const float* b, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

void matmul(float* c, const float* a, const float* b, int m, int n, int k) {
  launch(matmul_kernel, {dim3(ceil_div(n, 16), ceil_div(m, 16)), dim3(16, 16)}, c, a, b, m, n, k);
}

}  // namespace course::gpu
