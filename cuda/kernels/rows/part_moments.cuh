// The moments of the columns of kMomentRows rows that follow one another: their mean, and the sum
// of squares of differences from it. A kernel that makes such rows writes them beside; a kernel of
// their own makes the same bits of rows in memory.
//
// Idea. 128 threads have 128 bytes of each row. A lane has 4 bytes of a quarter of the rows, which
// lie in different banks where rows are lines of a swizzled box. Squares are those of differences
// from the first row.
#pragma once

#include "gradus/cuda/kernels/computed.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/tensor/base/normalized_rows.h"

namespace gradus::cuda {

inline constexpr int kPartThreads = 128;

// Where the first of `rows` rows and their columns are in a table of all (raw::PartMoments).
struct PartPlace {
  float *means, *squares;
  __device__ PartPlace(float* table, int64_t rows, int columns, int64_t first)
      : means(table + first / kMomentRows * columns),
        squares(means + (rows + kMomentRows - 1) / kMomentRows * columns) {}
};

// Writes the moments of up to 128 bytes of columns from `column` on, of which there are `columns`
// in a row. at(row, byte): where that byte of a row is. rows: how many there are, at most
// kMomentRows. REQUIRES: 128 threads call it, whose number in the block begins at a multiple of
// 128.
template <class T, class At>
__device__ void write_moments(const At& at, int rows, int column, int columns,
                              const PartPlace& to) {
  constexpr int kMine = 4 / sizeof(T);  // columns of a lane
  const int lane = static_cast<int>(threadIdx.x) % 32,
            byte = static_cast<int>(threadIdx.x) % kPartThreads / 32 * 32 + lane % 8 * 4;
  const auto row_of = [&](int row) { return load_vector<kMine>(at(row, byte)); };
  const Vector<T, kMine> first = row_of(0);
  float sums[2][kMine] = {};
#pragma unroll
  for (int i = 0; i < kMomentRows / 4; ++i) {
    const int row = i / 2 * 8 + lane / 8 * 2 + i % 2;
    const Vector<T, kMine> each = row_of(row < rows ? row : 0);  // the first one adds nothing
#pragma unroll
    for (int v = 0; v < kMine; ++v) {
      const float apart = static_cast<float>(each.at[v]) - static_cast<float>(first.at[v]);
      sums[0][v] += apart, sums[1][v] += apart * apart;
    }
  }
#pragma unroll
  for (int lanes = 8; lanes < 32; lanes *= 2)
#pragma unroll
    for (int v = 0; v < kMine; ++v)
#pragma unroll
      for (int k = 0; k < 2; ++k) sums[k][v] += __shfl_xor_sync(~0u, sums[k][v], lanes);
  column += byte / static_cast<int>(sizeof(T));
  if (lane >= 8 || column >= columns) return;
  Vector<float, kMine> mean, square;
#pragma unroll
  for (int v = 0; v < kMine; ++v) {
    const float apart = sums[0][v] / static_cast<float>(rows);
    mean.at[v] = static_cast<float>(first.at[v]) + apart;
    square.at[v] = sums[1][v] - sums[0][v] * apart;
  }
  store_vector(to.means + column, mean), store_vector(to.squares + column, square);
}

// The moments of all parts of x (rows, columns). A block has 128 bytes of one part. REQUIRES: a row
// has whole units of 16 bytes.
template <class T>
__global__ void __launch_bounds__(kPartThreads)
    part_moments(int64_t rows, int columns, const T* x, float* table) {
  wait_for_earlier_kernels();
  constexpr int kLine = 128 / sizeof(T), kMine = 4 / sizeof(T);
  const int wide = (columns + kLine - 1) / kLine, block = static_cast<int>(blockIdx.x);
  const int64_t first = int64_t{block / wide} * kMomentRows;
  const int column = block % wide * kLine;
  const auto at = [&](int row, int byte) {
    const int of_row = ::min(column + byte / static_cast<int>(sizeof(T)), columns - kMine);
    return x + (first + row) * columns + of_row;
  };
  const auto left = static_cast<int>(::min(rows - first, int64_t{kMomentRows}));
  write_moments<T>(at, left, column, columns, {table, rows, columns, first});
}

}  // namespace gradus::cuda
