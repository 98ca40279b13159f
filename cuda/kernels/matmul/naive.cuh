// Rung 1, naive: one thread for one output.
//
// Idea. The definition: out[row][col] is the sum of a[row][k] * b[k][col]. Neighbouring threads
// take neighbouring rows.
//
// Cost. 2 loads for each multiply-add, and no reuse but what the caches give. The 32 threads of a
// warp read 32 rows of a, which lie far apart: 32 memory transactions where one would carry as
// much, and as many again when they write their results.
//
// Next. The same work with the threads numbered the other way round (matmul/coalesced.cuh).
#pragma once

#include "gradus/cuda/kernels/matmul/tile.cuh"
#include "gradus/cuda/kernels/pdl.cuh"

namespace gradus::cuda {

// A block of 1024 threads makes 32 x 32 outputs.
template <class T>
__global__ void __launch_bounds__(1024) matmul_naive(const MatmulArgs<T> args) {
  wait_for_earlier_kernels();
  const TileOrigin tile = tile_origin<32, 32>(args);
  const int64_t row = tile.row + threadIdx.x % 32;
  const int64_t col = tile.col + threadIdx.x / 32;
  if (row >= args.m || col >= args.n) return;

  const T* a = terms(args.a, row);
  const T* b = terms(args.b, col);
  T sum = 0;
  for (int64_t k = 0; k < args.k; ++k) sum += a[k * args.a.depth] * b[k * args.b.depth];
  store(args, row, col, sum);
}

}  // namespace gradus::cuda
