// A kernel beside the ladder, for up to 16 rows of half types: b is read once, at the speed of
// memory.
//
// Idea. A model that generates multiplies one row of each sequence by every weight, whose columns
// lie along the terms. Tensor cores multiply 16 rows by 8 columns, some of them empty. A lane reads
// 8 terms of a column in one load, and the same terms of the rows. Terms may meet in any order, so
// these are two fragments as they are. The warps of a block take turns along the terms, and their
// sums are added in a fixed order. A kernel of a few rounds of blocks asks for its first columns
// while the one before it ends: it reads nothing yet, but brings them to the L2 cache. In a
// graph, a kernel may also do what stands before and behind the product (ops/matmul/merge.h).
//
// Cost. Every block reads the rows, from the L2 cache.
#pragma once

#include "gradus/cuda/kernels/decoding/merged.h"
#include "gradus/cuda/kernels/formulas/half_gelu.cuh"
#include "gradus/cuda/kernels/map.cuh"
#include "gradus/cuda/kernels/matmul/operand.h"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/rows/normalize.cuh"
#include "gradus/cuda/kernels/tensor_core.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

// across: tiles of 8 columns that a warp multiplies. down: tiles of 8 rows.
template <int across, int down>
struct RowsShape {
  static constexpr int kThreads = 256, kWarps = kThreads / 32;
  static constexpr int kAcross = across, kDown = down, kCols = 8 * across, kRows = 8 * down;
  static constexpr int kTerms = 32;  // of a warp's step
  static constexpr int kAhead = 4;   // steps whose loads are under way at once
};

// A function of one result, with the bits that a kernel of its own would give. operand() is what
// add and mul read.
template <class F>
__device__ float function_of(RowsEpilogue what, float x, const F& operand) {
  if (what == RowsEpilogue::gelu) return GeluOfHalf{}(x);
  if (what == RowsEpilogue::relu) return Map<UnaryOp::relu>{}(x);
  if (what == RowsEpilogue::silu) return Map<UnaryOp::silu>{}(x);
  return what == RowsEpilogue::add ? x + operand() : x * operand();
}

// The epilogue of one result in a product of n columns.
template <class T>
__device__ void append(const RowsEpilogueArgs& args, T result, int64_t row, int64_t column,
                       int64_t n) {
  T* const out = static_cast<T*>(args.out);
  if (args.what == RowsEpilogue::put) {
    const int64_t number = *args.index, at = column - args.first;
    if (at >= 0 && at < args.count && in_range(args.fault, args.rule, number))
      out[row * args.row_step + args.rule.place(number) * args.place_step + at] = result;
  } else {
    const int64_t at = row * n + column;
    out[at] = T(function_of(args.what, static_cast<float>(result), [&] {
      return static_cast<float>(static_cast<const T*>(args.operand)[at]);
    }));
  }
}

// rows() gives the first row and the step to the next one, once earlier kernels have ended.
template <class S, class T, class Out, class Rows>
__device__ void multiply_rows(const MatmulArgs<T, Out>& args, const RowsEpilogueArgs& epilogue,
                              const Rows& rows) {
  constexpr int kAcross = S::kAcross, kDown = S::kDown, kAhead = S::kAhead;
  using Unit = Vector<uint32_t, 4>;  // 8 terms
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int group = lane / 4, member = lane % 4;
  const int64_t first = int64_t{blockIdx.x} * S::kCols;
  const int64_t begin = warp * S::kTerms + member * 8;
  constexpr int kTurn = S::kWarps * S::kTerms, kPrefetched = 4096;  // terms of a column
  // Lanes past an edge read the last row or column, and store nothing.
  const T* b[kAcross];
#pragma unroll
  for (int j = 0; j < kAcross; ++j)
    b[j] = args.b.data + ::min(first + 8 * j + group, args.n - 1) * args.b.outer;
  if (is_few_blocks()) {
    const int64_t end = ::min(args.k, int64_t{kPrefetched});
    for (int64_t term = begin; term < end; term += kTurn)
#pragma unroll
      for (int j = 0; j < kAcross; ++j) prefetch(b[j] + term);
  }
  wait_for_earlier_kernels();
  let_next_kernel_start();

  const auto load = [&](const T* from, int64_t term) {
    return term < args.k ? load_vector<4>(reinterpret_cast<const uint32_t*>(from + term)) : Unit{};
  };
  Unit y[kAhead][kAcross];
  const auto load_columns = [&](int64_t at) {
#pragma unroll
    for (int s = 0; s < kAhead; ++s)
#pragma unroll
      for (int j = 0; j < kAcross; ++j) y[s][j] = load(b[j], at + s * kTurn);
  };
  load_columns(begin);  // which arrive while rows are made
  const auto [first_row, row_step] = rows();
  const T* a[kDown];
#pragma unroll
  for (int i = 0; i < kDown; ++i)
    a[i] = first_row + ::min(int64_t{8 * i + group}, args.m - 1) * row_step;
  float sums[kAcross][4] = {};
  for (int64_t at = begin; at - begin + warp * S::kTerms < args.k;) {
    Unit x[kAhead][kDown];
#pragma unroll
    for (int s = 0; s < kAhead; ++s)
#pragma unroll
      for (int i = 0; i < kDown; ++i) x[s][i] = load(a[i], at + s * kTurn);
#pragma unroll
    for (int s = 0; s < kAhead; ++s)
#pragma unroll
      for (int half = 0; half < 4; half += 2) {
        const Unit& low = x[s][kDown - 1];
        const uint32_t fragment[4] = {x[s][0].at[half], kDown > 1 ? low.at[half] : 0,
                                      x[s][0].at[half + 1], kDown > 1 ? low.at[half + 1] : 0};
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
          multiply_add_halves<T>(sums[j], fragment, {y[s][j].at[half], y[s][j].at[half + 1]});
      }
    load_columns(at += kAhead * kTurn);
  }

  __shared__ float parts[S::kWarps][S::kRows][S::kCols];
#pragma unroll
  for (int j = 0; j < kAcross; ++j)
#pragma unroll
    for (int e = 0; e < 2 * kDown; ++e)
      parts[warp][group + e / 2 * 8][8 * j + 2 * member + e % 2] = sums[j][e];
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < S::kRows * S::kCols; i += S::kThreads) {
    const int row = i / S::kCols, column = i % S::kCols;
    if (row >= args.m || first + column >= args.n) continue;
    float sum = 0;
#pragma unroll
    for (int w = 0; w < S::kWarps; ++w) sum += parts[w][row][column];
    if (args.bias) sum += static_cast<float>(args.bias[(first + column) * args.bias_stride]);
    const Out result(sum);
    args.out[row * args.n + first + column] = result;
    if (epilogue.what != RowsEpilogue::none) append(epilogue, result, row, first + column, args.n);
  }
}

template <class T>
struct RowsInMemory {
  const T* first;
  int64_t step;
};

// REQUIRES: one batch; m <= S::kRows; the terms of a and b lie along memory; k is a multiple of 8;
// rows of a and columns of b are aligned to 16 bytes.
template <class T, class Out, class S>
__global__ void __launch_bounds__(S::kThreads, 2)
    matmul_rows(const MatmulArgs<T, Out> args, const RowsEpilogueArgs epilogue) {
  multiply_rows<S>(args, epilogue, [&] { return RowsInMemory<T>{args.a.data, args.a.outer}; });
}

// The product of one row, which each block normalises for itself, and the first one stores.
// Many blocks would take longer for that than a kernel of its own.
// REQUIRES: as for matmul_rows and NormalizedVector, whose lanes are at most S::kThreads.
template <class T, class S>
__global__ void __launch_bounds__(S::kThreads, 2)
    matmul_normalized_row(const MatmulArgs<T> args, const RowsEpilogueArgs epilogue,
                          const NormalizedRowArgs norm) {
  constexpr int V = 8;
  alignas(16) __shared__ T row[S::kThreads * V];
  const auto as = [](const void* x) { return static_cast<const T*>(x); };
  prefetch_weights<V>(norm.length, as(norm.weight), as(norm.bias));
  multiply_rows<S>(args, epilogue, [&] {
    const NormalizedVector<V, T> made(norm.length, norm.lanes, norm.eps, as(norm.x),
                                      as(norm.weight), as(norm.bias));
    const int i = static_cast<int>(threadIdx.x) * V;
    const bool stores = blockIdx.x == 0;
    if (stores && i == 0) *norm.mean = made.mean, *norm.rstd = made.rstd;
    if (i < norm.length) store_as(row + i, made.y);
    if (stores && i < norm.length) store_as(static_cast<T*>(norm.out) + i, made.y);
    __syncthreads();
    return RowsInMemory<T>{row, 0};
  });
}

}  // namespace gradus::cuda
