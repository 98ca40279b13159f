// A kernel beside the ladder, for a large a and few columns: a is read once, at the speed of
// memory.
//
// Idea. A tile of few columns has little to reuse, so what counts is how a is read. A warp has
// kWarpRows rows of a and all columns of b, and its lanes split the terms, 16 bytes each: a goes
// from memory to registers, and b comes through shared memory, kChunk terms at a time. The lanes'
// sums are folded at the end.
// Cost. kCols loads of shared memory for kWarpRows * kCols * 4 multiply-adds. (10000, 100000)
// (100000, 10) takes 1.6 ms on an H100: 2.5 TB/s.
// Next. Loads of a that are ahead: their registers spill beside 96 sums.
#pragma once

#include "gradus/cuda/kernels/matmul_tile.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

struct NarrowShape {
  static constexpr int kWarps = 12, kThreads = 32 * kWarps;
  static constexpr int kWarpRows = 8, kRows = kWarps * kWarpRows;
  static constexpr int kStep = 32 * 4, kChunk = 2 * kStep;  // terms
};

// Four terms of a row of an operand from term k on; those past the end are 0.
__device__ inline Vector<float, 4> four_terms(const float* row, int64_t k, int64_t end) {
  Vector<float, 4> out = {};
  if (k + 4 <= end) return load_vector<4>(row + k);
#pragma unroll
  for (int v = 0; v < 4; ++v)
    if (k + v < end) out.at[v] = row[k + v];
  return out;
}

// REQUIRES: n <= kCols; the terms of both operands lie along memory, and their rows are aligned.
template <int kCols>
__global__ void __launch_bounds__(NarrowShape::kThreads, 1)
    matmul_narrow(const MatmulArgs<float> args) {
  wait_for_earlier_kernels();
  using S = NarrowShape;
  constexpr int kOfColumn = S::kChunk / 4, kOfChunk = kCols * kOfColumn;
  constexpr int kMine = (kOfChunk + S::kThreads - 1) / S::kThreads;
  __shared__ Vector<float, 4> chunks[2][kCols][kOfColumn];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int64_t first = int64_t{blockIdx.x} * S::kRows + thread / 32 * S::kWarpRows;
  const float* const a = terms(args.a, ::min(first, args.m - 1));
  const auto left = static_cast<int>(::min(int64_t{S::kWarpRows}, args.m - first));

  Vector<float, 4> from_b[kMine];
  const auto each_of_b = [&](const auto& f) {
#pragma unroll
    for (int j = 0; j < kMine; ++j)
      if (const int i = thread + j * S::kThreads; i < kOfChunk) f(j, i / kOfColumn, i % kOfColumn);
  };
  const auto fetch_b = [&](int64_t k) {
    each_of_b([&](int j, int col, int at) {
      from_b[j] = {};
      if (col < args.n) from_b[j] = four_terms(terms(args.b, col), k + 4 * at, args.k);
    });
  };
  const auto store_b = [&](int chunk) {
    each_of_b([&](int j, int col, int at) { chunks[chunk][col][at] = from_b[j]; });
  };

  float sums[S::kWarpRows][kCols] = {};
  fetch_b(0), store_b(0);
  __syncthreads();
  int current = 0;
  for (int64_t k = 0; k < args.k; k += S::kChunk, current ^= 1) {
    const bool more = k + S::kChunk < args.k;
    if (more) fetch_b(k + S::kChunk);
#pragma unroll
    for (int step = 0; step < S::kChunk / S::kStep; ++step) {
      Vector<float, 4> from_a[S::kWarpRows];
#pragma unroll
      for (int r = 0; r < S::kWarpRows; ++r)
        from_a[r] = four_terms(a + ::max(::min(r, left - 1), 0) * args.a.outer,
                               k + step * S::kStep + 4 * lane, args.k);
#pragma unroll
      for (int c = 0; c < kCols; ++c) {
        const Vector<float, 4> b = chunks[current][c][step * 32 + lane];
#pragma unroll
        for (int r = 0; r < S::kWarpRows; ++r)
#pragma unroll
          for (int v = 0; v < 4; ++v) sums[r][c] += from_a[r].at[v] * b.at[v];
      }
    }
    // The other buffer was last read before the barrier of the chunk before.
    if (more) store_b(current ^ 1);
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < S::kWarpRows; ++r)
#pragma unroll
    for (int c = 0; c < kCols; ++c) {
#pragma unroll
      for (int reach = 16; reach > 0; reach /= 2)
        sums[r][c] += __shfl_xor_sync(0xffffffffu, sums[r][c], reach);
      if (lane == (r * kCols + c) % 32) store(args, first + r, c, sums[r][c]);
    }
}

}  // namespace gradus::cuda
