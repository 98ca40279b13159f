// Rung 3, tiled: a block keeps a tile of each operand in shared memory.
//
// Idea. 32 x 32 outputs need 32 rows of a and 32 columns of b. The block walks along k in steps of
// 32: it loads a 32 x 32 tile of each operand, waits until all of it is there, and every thread
// takes its 32 products from the tiles.
// Cost. Global memory: 2 loads for each 32 multiply-adds, always coalesced, whatever the strides.
// Shared memory: still 2 loads for each multiply-add, and it delivers 32 words a cycle to a
// multiprocessor that can do 128 multiply-adds.
// Next. A thread with several outputs uses what it loads several times (matmul/register_1d.cuh).
#pragma once

#include "gradus/cuda/kernels/matmul/tile.cuh"

namespace gradus::cuda {

// A block of 1024 threads makes 32 x 32 outputs. Half types are added up as Sum = float.
template <class T, class Out = T, class Sum = T>
__global__ void __launch_bounds__(1024) matmul_tiled(const MatmulArgs<T, Out> args) {
  wait_for_earlier_kernels();
  using Loader = TileLoader<T, 32, 32, 1024>;
  __shared__ typename Loader::Tile a_tile, b_tile;
  const TileOrigin tile = tile_origin<32, 32>(args);
  Loader a(args.a, tile.row, args.m, args.k);
  Loader b(args.b, tile.col, args.n, args.k);
  const unsigned row = threadIdx.x / 32, col = threadIdx.x % 32;

  Sum sum = 0;
  for (int64_t k = 0; k < args.k; k += 32) {
    a.fetch(), a.store(a_tile);
    b.fetch(), b.store(b_tile);
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int i = 0; i < 32; ++i) sum += Sum(a_tile[i][row]) * Sum(b_tile[i][col]);
    __syncthreads();  // everyone is done with them
  }
  store(args, tile.row + row, tile.col + col, sum);
}

}  // namespace gradus::cuda
