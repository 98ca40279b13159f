// LOSES: edges of c
// Elements outside of c are stored too.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void matmul_register_kernel(float* c, Mat a, Mat b, int m, int n, int k) {
  // A warp stores two rows of b_tile at a time: the padding puts them into different banks.
  __shared__ float a_tile[kWide][kTile], b_tile[kTile][kWide + kTile];
  const int y = threadIdx.y, x = threadIdx.x;
  const long row = blockIdx.y * long{kWide} + y, column = blockIdx.x * long{kWide} + x;
  float sums[kOutputs][kOutputs] = {};
  for (long start = 0; start < k; start += kTile) {
#pragma unroll
    for (int i = 0; i < kWide; i += kTile) {
      a_tile[y + i][x] = row + i < m && start + x < k ? a.data[(row + i) * a.row + (start + x) * a.column] : 0;
      b_tile[y][x + i] = start + y < k && column + i < n ? b.data[(start + y) * b.row + (column + i) * b.column] : 0;
    }
    __syncthreads();
    for (int p = 0; p < kTile; ++p) {
      float left[kOutputs], right[kOutputs];
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) left[i] = a_tile[y + i * kTile][p], right[i] = b_tile[p][x + i * kTile];
#pragma unroll
      for (int i = 0; i < kOutputs; ++i)
        for (int j = 0; j < kOutputs; ++j) sums[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kOutputs; ++i)
    for (int j = 0; j < kOutputs; ++j) {
      const long to_row = row + i * kTile, to_column = column + j * kTile;
      c[to_row * n + to_column] = sums[i][j];
    }
}

void matmul_register(float* c, const Mat& a, const Mat& b, int m, int n, int k) {
  launch(matmul_register_kernel, {dim3(ceil_div(n, kWide), ceil_div(m, kWide)), dim3(kTile, kTile)}, c, a, b, m, n, k);
}

}  // namespace course::gpu
