// The sums of the columns of a matrix of a half type, as the gradient of a bias is one.
//
// Idea. A thread has 8 neighbouring columns, 16 bytes, and adds up every kSumsDown-th row of its
// block's share in float32. A block leaves a line of a table, and the last block of some columns
// adds up their lines in a fixed order: the same bits in each run.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/rows/last_block.cuh"
#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/tensor/base/half.h"

namespace gradus::cuda {

inline constexpr int kSumsWidth = 8;                    // columns of a thread
inline constexpr int kSumsAcross = 16, kSumsDown = 16;  // threads of a block
inline constexpr int kSumsThreads = kSumsAcross * kSumsDown;
inline constexpr int kSumsColumns = kSumsAcross * kSumsWidth;  // of a block
inline constexpr int kSumsBlocks = 4;                          // of a multiprocessor

// The matrix, and where blocks meet. Block (x, y) has kSumsColumns columns of `share` rows.
struct SummedColumns {
  int64_t rows, leading;  // elements between two rows
  int columns;
  int64_t share;
  float* table;        // (gridDim.y, columns)
  unsigned* counters;  // gridDim.x numbers for is_last_block(), where there are several lines

  __device__ int first() const { return static_cast<int>(blockIdx.x) * kSumsColumns; }
  __device__ int column() const {  // the thread's first one
    return first() + static_cast<int>(threadIdx.x) % kSumsAcross * kSumsWidth;
  }
  __device__ int64_t begin() const {  // its first row
    return blockIdx.y * share + static_cast<int>(threadIdx.x) / kSumsAcross;
  }
  __device__ int64_t end() const { return ::min((blockIdx.y + 1) * share, rows); }

  // out = the sums of all rows, of what each thread has added up of its own. REQUIRES: every thread
  // calls it.
  template <class Out>
  __device__ void add_up(const float (&own)[kSumsWidth], Out* out) const {
    __shared__ float all[kSumsDown][kSumsColumns + 4];
    const int thread = static_cast<int>(threadIdx.x), at = thread % kSumsColumns,
              part = thread / kSumsColumns;
    constexpr int kParts = kSumsThreads / kSumsColumns;  // of the rows or lines of a column
    const bool inside = first() + at < columns;
    const auto fold = [&](float sum) {  // over the parts
      __syncthreads();
      all[part][at] = sum;
      __syncthreads();
      for (int i = 1; i < kParts; ++i) sum += all[i][at];
      return sum;
    };
#pragma unroll
    for (int v = 0; v < kSumsWidth; ++v)
      all[thread / kSumsAcross][thread % kSumsAcross * kSumsWidth + v] = own[v];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int y = part; y < kSumsDown; y += kParts) sum += all[y][at];
    sum = fold(sum);
    if (gridDim.y > 1) {
      if (part == 0 && inside) table[int64_t{blockIdx.y} * columns + first() + at] = sum;
      if (!is_last_block(counters + blockIdx.x, gridDim.y)) return;
      sum = 0;
      const int lines = static_cast<int>(gridDim.y);
      if (inside)
#pragma unroll 8
        for (int line = part; line < lines; line += kParts)
          sum += table[int64_t{line} * columns + first() + at];
      sum = fold(sum);
    }
    if (part == 0 && inside) out[first() + at] = static_cast<Out>(sum);
  }
};

// sums = the sums of x's columns. REQUIRES: kSumsWidth divides the leading dimension.
template <class T, class Out>
__global__ void __launch_bounds__(kSumsThreads, kSumsBlocks)
    half_column_sums(SummedColumns of, const T* x, Out* sums) {
  wait_for_earlier_kernels();
  float own[kSumsWidth] = {};
  const int column = of.column();
  const T* const from = x + column;
  if (column + kSumsWidth <= of.columns) {
#pragma unroll 4
    for (int64_t row = of.begin(); row < of.end(); row += kSumsDown) {
      const auto each = load_vector<kSumsWidth>(from + row * of.leading);
#pragma unroll
      for (int v = 0; v < kSumsWidth; ++v) own[v] += static_cast<float>(each.at[v]);
    }
  } else {
#pragma unroll
    for (int v = 0; v < kSumsWidth; ++v)
      if (column + v < of.columns)
#pragma unroll 16
        for (int64_t row = of.begin(); row < of.end(); row += kSumsDown)
          own[v] += static_cast<float>(from[row * of.leading + v]);
  }
  of.add_up(own, sums);
}

// out = f(grad, read). sums = the sums of its columns before they are rounded. REQUIRES: rows are
// contiguous, and kSumsWidth divides the number of columns.
template <class F, class T>
__global__ void __launch_bounds__(kSumsThreads, kSumsBlocks)
    half_results_and_sums(F f, SummedColumns of, const T* grad, const T* read, T* out,
                          float* sums) {
  wait_for_earlier_kernels();
  constexpr int kRows = 2;  // are loaded before the first result is stored
  float own[kSumsWidth] = {};
  const int column = of.column();
  if (column < of.columns)
    for (int64_t row = of.begin(); row < of.end(); row += kRows * kSumsDown) {
      const auto place = [&](int k) { return (row + k * kSumsDown) * of.columns + column; };
      Vector<T, kSumsWidth> grads[kRows], reads[kRows];
#pragma unroll
      for (int k = 0; k < kRows; ++k) {
        if (row + k * kSumsDown >= of.end()) continue;
        grads[k] = load_vector<kSumsWidth>(grad + place(k));
        reads[k] = load_vector<kSumsWidth>(read + place(k));
      }
#pragma unroll
      for (int k = 0; k < kRows; ++k) {
        if (row + k * kSumsDown >= of.end()) continue;
#pragma unroll
        for (int v = 0; v < kSumsWidth; ++v) {
          const float y = f(static_cast<float>(grads[k].at[v]), static_cast<float>(reads[k].at[v]));
          own[v] += y;
          grads[k].at[v] = static_cast<T>(y);
        }
        store_vector(out + place(k), grads[k]);
      }
    }
  of.add_up(own, sums);
}

}  // namespace gradus::cuda
