// Conversion as a functor of the elementwise kernels, and the copies of a transposed matrix and of
// short lines.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/strided.cuh"
#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/tensor/math/convert.h"

namespace gradus::cuda {

template <class To>
struct Convert {
  template <class From>
  __device__ To operator()(From x) const {
    return convert<To>(x);
  }
};

inline constexpr int kTile = 32;
inline constexpr int kTileRows = 8;  // of threads; each of them moves kTile / kTileRows elements
inline constexpr int kTileThreads = kTile * kTileRows;

// The walk is over dst and src. Its last dimension has stride 1 in dst, and the one before has
// stride 1 in src. So neither side's order serves both. A block reads a square along src, turns it
// in shared memory, and writes it along dst. The column of padding puts a column of the square into
// 32 different banks. REQUIRES: walk.dims > 1; blocks of kTile x kTileRows threads.
template <class T>
__global__ void __launch_bounds__(kTileThreads)
    transpose_kernel(Strided<2> walk, T* dst, const T* src) {
  wait_for_earlier_kernels();
  const int last = walk.dims - 1;
  const int64_t rows = walk.size[last - 1], columns = walk.size[last];
  const int64_t row_tiles = (rows + kTile - 1) / kTile,
                column_tiles = (columns + kTile - 1) / kTile;
  const int64_t tile = blockIdx.x, matrix = tile / (row_tiles * column_tiles);
  const int64_t in_matrix = tile - matrix * row_tiles * column_tiles;
  const int64_t row = in_matrix / column_tiles * kTile, column = in_matrix % column_tiles * kTile;
  const auto at = offsets_of(walk, last - 1, matrix);
  dst += at.at[0];
  src += at.at[1];

  __shared__ T square[kTile][kTile + 1];  // [column][row]
  for (int c = threadIdx.y; c < kTile; c += kTileRows)
    if (row + threadIdx.x < rows && column + c < columns)
      square[c][threadIdx.x] = src[row + threadIdx.x + (column + c) * walk.stride[1][last]];
  __syncthreads();
  for (int r = threadIdx.y; r < kTile; r += kTileRows)
    if (row + r < rows && column + threadIdx.x < columns)
      dst[column + threadIdx.x + (row + r) * walk.stride[0][last - 1]] = square[threadIdx.x][r];
}

inline constexpr int kShortThreads = 256;
inline constexpr int kShortParts = 2;  // accesses of a thread

// The walk is over dst, which is contiguous, and src. Its last dimension, a line, is short. A
// thread writes what one access holds, and walks on from line to line for it.
// REQUIRES: walk.dims > 1; dst is aligned to accesses.
template <class T>
__global__ void __launch_bounds__(kShortThreads)
    copy_short_lines(Strided<2, int32_t> walk, T* dst, const T* src) {
  wait_for_earlier_kernels();
  constexpr int V = vector_width<T>;
  const int last = walk.dims - 1;
  const auto length = static_cast<unsigned>(walk.size[last]);
  const int32_t step = walk.stride[1][last];
  const int32_t begin = static_cast<int32_t>(blockIdx.x) * kShortParts * kShortThreads;
  Vector<T, V> some[kShortParts];
#pragma unroll
  for (int part = 0; part < kShortParts; ++part) {
    const int32_t first = (begin + part * kShortThreads + static_cast<int>(threadIdx.x)) * V;
    auto line = static_cast<int32_t>(static_cast<unsigned>(first) / length);
    auto column = static_cast<int32_t>(first - line * walk.size[last]);
    int32_t from = offsets_of(walk, last, line).at[1];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (first + v < walk.numel) some[part].at[v] = src[from + column * step];
      if (++column < walk.size[last]) continue;
      column = 0;
      from = offsets_of(walk, last, ++line).at[1];
    }
  }
#pragma unroll
  for (int part = 0; part < kShortParts; ++part) {
    const int32_t first = (begin + part * kShortThreads + static_cast<int>(threadIdx.x)) * V;
    if (first + V <= walk.numel)
      store_vector(dst + first, some[part]);
    else
      for (int v = 0; first + v < walk.numel; ++v) dst[first + v] = some[part].at[v];
  }
}

// Tensors that are laid one after the other: part k has rows of `length` units, `step` units apart,
// which come to the units from `begin` on of the rows of out.
template <class Unit>
struct CatParts {
  static constexpr int kMost = 32;
  struct Part {
    const Unit* from;
    int64_t step;
    unsigned length, begin;
  } at[kMost];
};

inline constexpr int kCatBatch = 4;  // units that a thread has under way

// blockIdx.y counts the parts. Rows of out have `width` units. REQUIRES: units are counted in 31
// bits.
template <class Unit>
__global__ void cat_kernel(CatParts<Unit> parts, unsigned rows, unsigned width, Unit* out) {
  wait_for_earlier_kernels();
  const auto part = parts.at[blockIdx.y];
  const unsigned n = rows * part.length, step = gridDim.x * blockDim.x;
  for (unsigned first = blockIdx.x * blockDim.x + threadIdx.x; first < n;
       first += kCatBatch * step) {
    Unit unit[kCatBatch];
    unsigned to[kCatBatch];
#pragma unroll
    for (int b = 0; b < kCatBatch; ++b) {
      const unsigned i = first + b * step;
      if (i >= n) continue;
      const unsigned row = i / part.length, column = i - row * part.length;
      unit[b] = part.from[row * part.step + column];
      to[b] = row * width + part.begin + column;
    }
#pragma unroll
    for (int b = 0; b < kCatBatch; ++b)
      if (first + b * step < n) out[to[b]] = unit[b];
  }
}

}  // namespace gradus::cuda
