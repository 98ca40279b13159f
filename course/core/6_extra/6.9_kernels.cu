// The kernels that task 6.9 is about.
#include "core/launch.h"
#include "core/roofline.h"

namespace course::gpu {

namespace {

constexpr int kBlock = 128;

__global__ void axpy_kernel(float* y, float a, const float* x, long n) {
  const long i = static_cast<long>(blockIdx.x) * kBlock + threadIdx.x;
  if (i < n) y[i] = y[i] + a * x[i];
}

__global__ void sum_rows_kernel(float* out, const float* x, int rows, int columns) {
  const int row = blockIdx.x * kBlock + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += x[static_cast<long>(row) * columns + i];
  out[row] = sum;
}

// A block makes t x t elements of c. It keeps t rows of a and t columns of b in shared memory.
// REQUIRES: t k is at most 6,144, since a block has 48 KB.
__global__ void matmul_kernel(float* c, const float* a, const float* b, int n, int k) {
  extern __shared__ float strips[];
  const int t = blockDim.x, me = threadIdx.y * t + threadIdx.x;
  float *const of_a = strips, *const of_b = strips + t * k;
  a += static_cast<long>(blockIdx.y) * t * k;
  b += blockIdx.x * t;
  for (int i = me; i < t * k; i += t * t) {
    of_a[i] = a[i];
    of_b[i] = b[static_cast<long>(i / t) * n + i % t];
  }
  __syncthreads();
  float sum = 0;
  for (int term = 0; term < k; ++term) sum += of_a[threadIdx.y * k + term] * of_b[term * t + threadIdx.x];
  c[static_cast<long>(blockIdx.y * t + threadIdx.y) * n + blockIdx.x * t + threadIdx.x] = sum;
}

}  // namespace

void axpy(float* y, float a, const float* x, long n) {
  launch(axpy_kernel, {ceil_div(n, kBlock), kBlock}, y, a, x, n);
}

void sum_rows_alone(float* out, const float* x, int rows, int columns) {
  launch(sum_rows_kernel, {ceil_div(rows, kBlock), kBlock}, out, x, rows, columns);
}

void matmul_tiles(float* c, const float* a, const float* b, int m, int n, int k, int tile) {
  launch(matmul_kernel, {dim3(n / tile, m / tile), dim3(tile, tile), 2 * sizeof(float) * tile * k}, c, a, b, n, k);
}

}  // namespace course::gpu
