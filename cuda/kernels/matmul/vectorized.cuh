// Rung 6, vectorized: the same squares with three additions: 16-byte accesses, loads ahead of their
// use, and warps that share what they read.
//
// Idea. (1) All loads and stores carry 16 bytes: a quarter of the instructions. A thread's rows and
// columns come in groups of 4 neighbours for that, and the groups of the lanes of a warp
// interleave, so that a warp reads consecutive words. (2) Each warp makes a compact rectangle of
// the tile, and so reads few different words: many lanes ask for the same one, which is delivered
// once. (3) Two tiles of each operand: while one is multiplied, the next is on its way from global
// memory to registers; it is written to the other buffer, and one barrier for each step is enough.
// Cost. 16 x 8 outputs a thread take 6 loads of shared memory for 128 multiply-adds, 0.05 for one.
// Global memory: 2 loads for each 170, of 16 bytes, none of them waited for.
// Next. The multiply-add units are now nearly always busy. The tensor cores are the next step
// (matmul/tensor_cores.cuh).
#pragma once

#include "gradus/cuda/kernels/matmul/tile.cuh"
#include "gradus/cuda/kernels/pdl.cuh"

namespace gradus::cuda {

// A block makes kRows x kCols outputs in steps of kDepth terms, a warp kWarpRows x kWarpCols of
// them, a thread kThreadRows x kThreadCols. kResident blocks fit a multiprocessor.
template <int rows, int cols, int depth, int warp_rows, int warp_cols, int thread_rows,
          int thread_cols, int resident>
struct BlockShape {
  static constexpr int kRows = rows, kCols = cols, kDepth = depth;
  static constexpr int kWarpRows = warp_rows, kWarpCols = warp_cols;
  static constexpr int kThreadRows = thread_rows, kThreadCols = thread_cols;
  static constexpr int kThreads = 32 * (rows / warp_rows) * (cols / warp_cols);
  static constexpr int kResident = resident;
  static_assert((warp_rows / thread_rows) * (warp_cols / thread_cols) == 32, "a warp has 32 lanes");
};

// `count` elements in groups of 4, `gap` apart, from shared memory to registers.
template <int count, int gap>
__device__ void read_groups(const float* from, float (&to)[count]) {
#pragma unroll
  for (int g = 0; g < count / 4; ++g)
    *reinterpret_cast<float4*>(&to[4 * g]) = *reinterpret_cast<const float4*>(from + g * gap);
}

// 4 neighbouring outputs: the epilogue of 16 bytes.
__device__ inline void store_group(const MatmulArgs<float>& args, int64_t row, int64_t col,
                                   float (&sum)[4]) {
  float* const out = args.out + (blockIdx.z * args.m + row) * args.n + col;
  const bool aligned = reinterpret_cast<uintptr_t>(out) % 16 == 0;
  if (row < args.m && col + 4 <= args.n && aligned) {
    *reinterpret_cast<float4*>(out) =
        make_float4(sum[0] + bias_at(args, col), sum[1] + bias_at(args, col + 1),
                    sum[2] + bias_at(args, col + 2), sum[3] + bias_at(args, col + 3));
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) store(args, row, col + i, sum[i]);
  }
}

template <class S>
__global__ void __launch_bounds__(S::kThreads, S::kResident)
    matmul_vectorized(const MatmulArgs<float> args) {
  wait_for_earlier_kernels();
  using LoaderA = TileLoader<float, S::kRows, S::kDepth, S::kThreads, 4>;
  using LoaderB = TileLoader<float, S::kCols, S::kDepth, S::kThreads, 4>;
  alignas(16) __shared__ typename LoaderA::Tile a_tiles[2];
  alignas(16) __shared__ typename LoaderB::Tile b_tiles[2];
  const TileOrigin tile = tile_origin<S::kRows, S::kCols>(args);
  LoaderA a(args.a, tile.row, args.m, args.k);
  LoaderB b(args.b, tile.col, args.n, args.k);

  constexpr int kWarpsAcross = S::kCols / S::kWarpCols;
  constexpr int kLanesAcross = S::kWarpCols / S::kThreadCols;
  constexpr int kRowGap = 4 * (S::kWarpRows / S::kThreadRows), kColGap = 4 * kLanesAcross;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = warp / kWarpsAcross * S::kWarpRows + lane / kLanesAcross * 4;
  const int col = warp % kWarpsAcross * S::kWarpCols + lane % kLanesAcross * 4;

  float sum[S::kThreadRows][S::kThreadCols] = {};
  a.fetch(), a.store(a_tiles[0]);
  b.fetch(), b.store(b_tiles[0]);
  __syncthreads();
  int current = 0;
  for (int64_t k = 0; k < args.k; k += S::kDepth, current ^= 1) {
    const bool more = k + S::kDepth < args.k;
    if (more) a.fetch(), b.fetch();
#pragma unroll
    for (int i = 0; i < S::kDepth; ++i) {
      float from_a[S::kThreadRows], from_b[S::kThreadCols];
      read_groups<S::kThreadRows, kRowGap>(&a_tiles[current][i][row], from_a);
      read_groups<S::kThreadCols, kColGap>(&b_tiles[current][i][col], from_b);
#pragma unroll
      for (int r = 0; r < S::kThreadRows; ++r)
#pragma unroll
        for (int c = 0; c < S::kThreadCols; ++c) sum[r][c] += from_a[r] * from_b[c];
    }
    // The other buffer was last read before the barrier of the step before.
    if (more) a.store(a_tiles[current ^ 1]), b.store(b_tiles[current ^ 1]);
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < S::kThreadRows; ++r)
#pragma unroll
    for (int c = 0; c < S::kThreadCols; c += 4)
      store_group(args, tile.row + row + r / 4 * kRowGap + r % 4, tile.col + col + c / 4 * kColGap,
                  *reinterpret_cast<float(*)[4]>(&sum[r][c]));
}

}  // namespace gradus::cuda
