// The sums of the columns of a matrix of a half type, as the gradient of a bias is one.
//
// Idea. A thread has 8 neighbouring columns, 16 bytes, and adds up every kSumsDown-th row of its
// block's share in float32. A block leaves a line of a table, and a second kernel adds up the lines
// in a fixed order: the same bits in each run.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/tensor/base/half.h"

namespace gradus::cuda {

inline constexpr int kSumsWidth = 8;                    // columns of a thread
inline constexpr int kSumsAcross = 16, kSumsDown = 16;  // threads of a block
inline constexpr int kSumsThreads = kSumsAcross * kSumsDown;
inline constexpr int kSumsColumns = kSumsAcross * kSumsWidth;  // of a block
inline constexpr int kTotalsAcross = 16, kTotalsDown = 16;  // threads of a block of the second one

// Line blockIdx.y of `table`: the sums of rows [blockIdx.y * share, (blockIdx.y + 1) * share).
// REQUIRES: kSumsWidth divides `columns` and `leading`, the elements between two rows.
template <class T>
__global__ void __launch_bounds__(kSumsThreads)
    half_column_sums(const T* x, int64_t rows, int columns, int64_t leading, int64_t share,
                     float* table) {
  wait_for_earlier_kernels();
  const int across = static_cast<int>(threadIdx.x) % kSumsAcross,
            down = static_cast<int>(threadIdx.x) / kSumsAcross,
            first = static_cast<int>(blockIdx.x) * kSumsColumns,
            column = first + across * kSumsWidth;
  float sums[kSumsWidth] = {};
  const int64_t end = ::min((blockIdx.y + 1) * share, rows);
  if (column < columns) {
    const T* from = x + column;
#pragma unroll 4
    for (int64_t row = blockIdx.y * share + down; row < end; row += kSumsDown) {
      const auto each = load_vector<kSumsWidth>(from + row * leading);
#pragma unroll
      for (int v = 0; v < kSumsWidth; ++v) sums[v] += static_cast<float>(each.at[v]);
    }
  }
  __shared__ float all[kSumsDown][kSumsColumns + 4];
#pragma unroll
  for (int v = 0; v < kSumsWidth; ++v) all[down][across * kSumsWidth + v] = sums[v];
  __syncthreads();
  const int mine = static_cast<int>(threadIdx.x);
  if (mine >= kSumsColumns || first + mine >= columns) return;
  float sum = 0;
#pragma unroll
  for (int y = 0; y < kSumsDown; ++y) sum += all[y][mine];
  table[int64_t{blockIdx.y} * columns + first + mine] = sum;
}

// out = the sums of the table's lines.
template <class Out>
__global__ void __launch_bounds__(kTotalsAcross* kTotalsDown)
    half_column_totals(const float* table, int lines, int columns, Out* out) {
  wait_for_earlier_kernels();
  const int across = static_cast<int>(threadIdx.x) % kTotalsAcross,
            down = static_cast<int>(threadIdx.x) / kTotalsAcross,
            column = static_cast<int>(blockIdx.x) * kTotalsAcross + across;
  float sum = 0;
  if (column < columns)
#pragma unroll 8
    for (int line = down; line < lines; line += kTotalsDown)
      sum += table[int64_t{line} * columns + column];
  __shared__ float all[kTotalsDown][kTotalsAcross + 1];
  all[down][across] = sum;
  __syncthreads();
  if (down > 0 || column >= columns) return;
#pragma unroll
  for (int y = 1; y < kTotalsDown; ++y) sum += all[y][across];
  out[column] = static_cast<Out>(sum);
}

}  // namespace gradus::cuda
