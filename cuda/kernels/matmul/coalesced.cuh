// Rung 2, coalesced: neighbouring threads take neighbouring columns.
//
// Idea. A warp reads memory in lines. The 32 threads of a warp are numbered along a row of the
// output. They read 32 neighbours of b (one transaction of 128 bytes) and the same element of a (a
// broadcast), and write 32 neighbours of out.
// Cost. Still 2 loads for each multiply-add, now in 2 transactions a warp in place of 33. A
// transposed b puts the threads far apart again: the order that suits one layout is wrong for the
// other.
// Next. Each element of a is still loaded n times and each of b m times. A block can load them once
// and keep them near (matmul/tiled.cuh), and then may load in whichever order suits the memory.
#pragma once

#include "gradus/cuda/kernels/matmul/tile.cuh"
#include "gradus/cuda/kernels/pdl.cuh"

namespace gradus::cuda {

// A block of 1024 threads makes 32 x 32 outputs.
template <class T>
__global__ void __launch_bounds__(1024) matmul_coalesced(const MatmulArgs<T> args) {
  wait_for_earlier_kernels();
  const TileOrigin tile = tile_origin<32, 32>(args);
  const int64_t row = tile.row + threadIdx.x / 32;
  const int64_t col = tile.col + threadIdx.x % 32;
  if (row >= args.m || col >= args.n) return;

  const T* a = terms(args.a, row);
  const T* b = terms(args.b, col);
  T sum = 0;
  for (int64_t k = 0; k < args.k; ++k) sum += a[k * args.a.depth] * b[k * args.b.depth];
  store(args, row, col, sum);
}

}  // namespace gradus::cuda
