// Rung 4, register_1d: a thread makes a column of 8 outputs.
//
// Idea. A thread loads, for each k, one element of b and 8 of a, and makes 8 products of them: the
// element of b is kept in a register. 512 threads with 8 outputs each make a tile of 64 x 64. A
// step of 8 along k is one element of each tile for each thread to load.
// Cost. Shared memory: 9 loads for 8 multiply-adds, 1.13 for one. Global memory: 2 loads for each
// 64, half as many as before, since the tile is twice as wide.
// Next. The element of a is still used once. Two dimensions use both several times
// (matmul/register_2d.cuh).
#pragma once

#include "gradus/cuda/kernels/matmul/tile.cuh"
#include "gradus/cuda/kernels/pdl.cuh"

namespace gradus::cuda {

// A block of 512 threads makes 64 x 64 outputs.
template <class T>
__global__ void __launch_bounds__(512) matmul_register_1d(const MatmulArgs<T> args) {
  wait_for_earlier_kernels();
  constexpr int kDepth = 8, kRows = 8;
  using Loader = TileLoader<T, 64, kDepth, 512>;
  __shared__ typename Loader::Tile a_tile, b_tile;
  const TileOrigin tile = tile_origin<64, 64>(args);
  Loader a(args.a, tile.row, args.m, args.k);
  Loader b(args.b, tile.col, args.n, args.k);
  const unsigned row = threadIdx.x / 64 * kRows, col = threadIdx.x % 64;

  T sum[kRows] = {};
  for (int64_t k = 0; k < args.k; k += kDepth) {
    a.fetch(), a.store(a_tile);
    b.fetch(), b.store(b_tile);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      const T from_b = b_tile[i][col];
#pragma unroll
      for (int r = 0; r < kRows; ++r) sum[r] += a_tile[i][row + r] * from_b;
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) store(args, tile.row + row + r, tile.col + col, sum[r]);
}

}  // namespace gradus::cuda
