// LOSES: banks
// The rows of a tile are as long as the tile, so neighbouring threads store to one bank.
#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

constexpr int kSquare = 128, kDepth = 8;  // a block makes kSquare x kSquare outputs in steps of kDepth terms
constexpr int kOwn = 8;                   // a thread makes kOwn x kOwn of them
constexpr int kRow = kSquare;         // of a tile: threads that store neighbouring k meet different banks

// 4 elements of a row that has `size` elements, from `column` on; 0 outside.
__device__ float4 load4(const float* row, int column, int size, bool inside) {
  if (inside && size % 4 == 0 && column < size) return *reinterpret_cast<const float4*>(row + column);
  const auto at = [&](int i) { return inside && column + i < size ? row[column + i] : 0.f; };
  return {at(0), at(1), at(2), at(3)};
}

__device__ void store4(float* row, int column, int size, float4 value) {
  if (size % 4 == 0 && column < size) {
    *reinterpret_cast<float4*>(row + column) = value;
    return;
  }
  const float values[] = {value.x, value.y, value.z, value.w};
  for (int i = 0; i < 4; ++i)
    if (column + i < size) row[column + i] = values[i];
}

__global__ void __launch_bounds__(256, 2) matmul_kernel(float* c, const float* a, const float* b, int m, int n, int k) {
  __shared__ float4 a_tiles[2][kDepth][kRow / 4], b_tiles[2][kDepth][kRow / 4];  // a's is stored by columns
  const int thread = threadIdx.x, top = blockIdx.y * kSquare, left = blockIdx.x * kSquare;
  // What this thread moves from global memory: 4 elements of a row of a, and 4 of a row of b.
  const int a_row = thread / 2, a_column = thread % 2 * 4, b_row = thread / 32, b_column = thread % 32 * 4;
  const float* const from_a = a + static_cast<long>(top + a_row) * k;
  float4 next_a, next_b;
  const auto fetch = [&](int start) {
    next_a = load4(from_a, start + a_column, k, top + a_row < m);
    next_b = load4(b + static_cast<long>(start + b_row) * n, left + b_column, n, start + b_row < k);
  };
  const auto put = [&](int buffer) {
    float* const column = reinterpret_cast<float*>(a_tiles[buffer][a_column]) + a_row;
    column[0] = next_a.x, column[kRow] = next_a.y, column[2 * kRow] = next_a.z, column[3 * kRow] = next_a.w;
    b_tiles[buffer][b_row][b_column / 4] = next_b;
  };
  // Its outputs: rows 4 y ... 4 y + 3 of the tile and the same 64 further down; columns likewise.
  const int y = thread / 16, x = thread % 16;
  float sums[kOwn][kOwn] = {};
  fetch(0), put(0);
  __syncthreads();
  for (int start = 0, buffer = 0; start < k; start += kDepth, buffer ^= 1) {
    const bool more = start + kDepth < k;
    if (more) fetch(start + kDepth);
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      const float4 a0 = a_tiles[buffer][i][y], a1 = a_tiles[buffer][i][y + 16];
      const float4 b0 = b_tiles[buffer][i][x], b1 = b_tiles[buffer][i][x + 16];
      const float of_a[] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
      const float of_b[] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int r = 0; r < kOwn; ++r)
#pragma unroll
        for (int s = 0; s < kOwn; ++s) sums[r][s] += of_a[r] * of_b[s];
    }
    if (more) put(buffer ^ 1);  // was last read before the barrier of the step before
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kOwn; ++r) {
    const int row = top + r / 4 * 64 + 4 * y + r % 4;
    if (row >= m) continue;
    float* const to = c + static_cast<long>(row) * n;
    store4(to, left + 4 * x, n, {sums[r][0], sums[r][1], sums[r][2], sums[r][3]});
    store4(to, left + 4 * x + 64, n, {sums[r][4], sums[r][5], sums[r][6], sums[r][7]});
  }
}

void matmul(float* c, const float* a, const float* b, int m, int n, int k) {
  launch(matmul_kernel, {dim3(ceil_div(n, kSquare), ceil_div(m, kSquare)), dim3(256)}, c, a, b, m, n, k);
}

}  // namespace course::gpu
