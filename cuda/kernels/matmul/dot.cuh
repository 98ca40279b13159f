// A kernel beside the ladder, for products with few outputs: a warp makes one of them.
//
// Idea. A tile needs rows and columns to reuse; a product with a vector has none, and a tiny one is
// over before its tiles are filled. Here 32 lanes split the terms of one sum, and fold their
// partial sums with shuffles.
// Cost. 2 loads for each multiply-add, as in the naive rung. But they are coalesced, and of 16
// bytes where both operands are contiguous along the depth; and there is no barrier.
#pragma once

#include "gradus/cuda/kernels/matmul/tile.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

// A block is one warp.
template <class T>
__global__ void __launch_bounds__(32) matmul_dot(const MatmulArgs<T> args) {
  wait_for_earlier_kernels();
  const TileOrigin at = tile_origin<1, 1>(args);
  const T* a = terms(args.a, at.row);
  const T* b = terms(args.b, at.col);
  // The order of the terms is the same wherever the operands lie: a product of a view has the bits
  // of one of a copy.
  constexpr int V = vector_width<T>;
  const bool vectors =
      args.a.depth == 1 && args.b.depth == 1 && is_aligned<V>(a) && is_aligned<V>(b);
  const int64_t whole = args.k / V * V;
  T sum = 0;
#pragma unroll 4
  for (int64_t k = threadIdx.x * V; k < whole; k += 32 * V) {
    Vector<T, V> from_a, from_b;
    if (vectors) {
      from_a = load_vector<V>(a + k), from_b = load_vector<V>(b + k);
    } else {
#pragma unroll
      for (int v = 0; v < V; ++v) {
        from_a.at[v] = a[(k + v) * args.a.depth];
        from_b.at[v] = b[(k + v) * args.b.depth];
      }
    }
#pragma unroll
    for (int v = 0; v < V; ++v) sum += from_a.at[v] * from_b.at[v];
  }
  for (int64_t k = whole + threadIdx.x; k < args.k; k += 32)
    sum += a[k * args.a.depth] * b[k * args.b.depth];
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) store(args, at.row, at.col, sum);
}

}  // namespace gradus::cuda
