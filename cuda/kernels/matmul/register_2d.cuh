// Rung 5, register_2d: a thread makes a square of outputs.
//
// Idea. A thread loads, for each k, 8 elements of a and 8 of b into registers and makes all 64
// products of them. 256 threads, 16 x 16, make a tile of 128 x 128. A thread's rows and columns lie
// 16 apart: then neighbouring threads read neighbouring words of shared memory, each from a bank of
// its own, and write neighbouring words of the output.
// Cost. Shared memory: 16 loads for 64 multiply-adds, 0.25 for one: just what it can deliver to 128
// multiply-adds a cycle. Global memory: 2 loads for each 128.
// Next. Every load is an instruction that takes the place of a multiply-add, and between two
// barriers everyone waits for memory. Wider loads, and loading ahead (matmul/vectorized.cuh).
#pragma once

#include "gradus/cuda/kernels/matmul/tile.cuh"
#include "gradus/cuda/kernels/pdl.cuh"

namespace gradus::cuda {

// A block of 256 threads makes 16 kSide x 16 kSide outputs, each thread kSide x kSide of them.
template <class T, int kSide>
__global__ void __launch_bounds__(256) matmul_register_2d(const MatmulArgs<T> args) {
  wait_for_earlier_kernels();
  constexpr int kDepth = 8, kTile = 16 * kSide;
  using Loader = TileLoader<T, kTile, kDepth, 256>;
  __shared__ typename Loader::Tile a_tile, b_tile;
  const TileOrigin tile = tile_origin<kTile, kTile>(args);
  Loader a(args.a, tile.row, args.m, args.k);
  Loader b(args.b, tile.col, args.n, args.k);
  const unsigned row = threadIdx.x / 16, col = threadIdx.x % 16;

  T sum[kSide][kSide] = {};
  for (int64_t k = 0; k < args.k; k += kDepth) {
    a.fetch(), a.store(a_tile);
    b.fetch(), b.store(b_tile);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      T from_a[kSide], from_b[kSide];
#pragma unroll
      for (int s = 0; s < kSide; ++s) {
        from_a[s] = a_tile[i][row + 16 * s];
        from_b[s] = b_tile[i][col + 16 * s];
      }
#pragma unroll
      for (int r = 0; r < kSide; ++r)
#pragma unroll
        for (int c = 0; c < kSide; ++c) sum[r][c] += from_a[r] * from_b[c];
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kSide; ++r)
#pragma unroll
    for (int c = 0; c < kSide; ++c)
      store(args, tile.row + row + 16 * r, tile.col + col + 16 * c, sum[r][c]);
}

}  // namespace gradus::cuda
