// A kernel beside the ladder, for up to 16 rows of half types: b is read once, at the speed of
// memory.
//
// Idea. A model that generates multiplies one row of each sequence by every weight, whose columns
// lie along the terms. Tensor cores multiply 16 rows by 8 columns, some of them empty. A lane reads
// 8 terms of a column in one load, and the same terms of the rows. Terms may meet in any order, so
// these are two fragments as they are. The warps of a block take turns along the terms, and their
// sums are added in a fixed order. A kernel of a few rounds of blocks asks for its first columns
// while the one before it ends: it reads nothing yet, but brings them to the L2 cache. In a
// graph, the kernel may also compute a function of the product (ops/matmul/append.h).
//
// Cost. Every block reads the rows, from the L2 cache.
#pragma once

#include "gradus/cuda/kernels/decoding/epilogue.h"
#include "gradus/cuda/kernels/formulas/half_gelu.cuh"
#include "gradus/cuda/kernels/map.cuh"
#include "gradus/cuda/kernels/matmul/operand.h"
#include "gradus/cuda/kernels/pdl.cuh"
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

// REQUIRES: one batch; m <= S::kRows; the terms of a and b lie along memory; k is a multiple of 8;
// rows of a and columns of b are aligned to 16 bytes.
template <class T, class Out, class S>
__global__ void __launch_bounds__(S::kThreads, 2)
    matmul_rows(const MatmulArgs<T, Out> args, const RowsEpilogueArgs epilogue) {
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

  const T* a[kDown];
#pragma unroll
  for (int i = 0; i < kDown; ++i)
    a[i] = args.a.data + ::min(int64_t{8 * i + group}, args.m - 1) * args.a.outer;
  float sums[kAcross][4] = {};
  for (int64_t at = begin; at - begin + warp * S::kTerms < args.k; at += kAhead * kTurn) {
    Unit x[kAhead][kDown], y[kAhead][kAcross];
#pragma unroll
    for (int s = 0; s < kAhead; ++s) {
      const int64_t term = at + s * kTurn;
      const auto load = [&](const T* from) {
        return term < args.k ? load_vector<4>(reinterpret_cast<const uint32_t*>(from + term))
                             : Unit{};
      };
#pragma unroll
      for (int j = 0; j < kAcross; ++j) y[s][j] = load(b[j]);
#pragma unroll
      for (int i = 0; i < kDown; ++i) x[s][i] = load(a[i]);
    }
#pragma unroll
    for (int s = 0; s < kAhead; ++s)
#pragma unroll
      for (int half = 0; half < 4; half += 2) {
        const Unit& low = x[s][kDown - 1];
        const uint32_t rows[4] = {x[s][0].at[half], kDown > 1 ? low.at[half] : 0,
                                  x[s][0].at[half + 1], kDown > 1 ? low.at[half + 1] : 0};
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
          multiply_add_halves<T>(sums[j], rows, {y[s][j].at[half], y[s][j].at[half + 1]});
      }
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

}  // namespace gradus::cuda
