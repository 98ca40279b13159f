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

template <int kTile>
__global__ void matmul_kernel(float* c, const float* a, const float* b, int n, int k) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  float sum = 0;
  for (int start = 0; start < k; start += kTile) {
    a_tile[y][x] = a[static_cast<long>(row) * k + start + x];
    b_tile[y][x] = b[static_cast<long>(start + y) * n + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  c[static_cast<long>(row) * n + column] = sum;
}

}  // namespace

void axpy(float* y, float a, const float* x, long n) {
  launch(axpy_kernel, {ceil_div(n, kBlock), kBlock}, y, a, x, n);
}

void sum_rows_alone(float* out, const float* x, int rows, int columns) {
  launch(sum_rows_kernel, {ceil_div(rows, kBlock), kBlock}, out, x, rows, columns);
}

void matmul_tiles(float* c, const float* a, const float* b, int m, int n, int k, int tile) {
  const Grid grid = {dim3(n / tile, m / tile), dim3(tile, tile)};
  if (tile == 8) launch(matmul_kernel<8>, grid, c, a, b, n, k);
  if (tile == 16) launch(matmul_kernel<16>, grid, c, a, b, n, k);
  if (tile == 32) launch(matmul_kernel<32>, grid, c, a, b, n, k);
}

}  // namespace course::gpu
