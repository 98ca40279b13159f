// The second pass of a product whose terms were split over several blocks, in a fixed order: no
// result depends on which block came first.
#pragma once

#include "gradus/cuda/kernels/division.cuh"
#include "gradus/cuda/kernels/matmul/tile.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

// How many threads share an output: 2 to this power. The number depends on the number of parts
// alone. So a product of some rows has the same bits as these rows of the whole product.
inline int sum_lane_bits(int64_t parts) {
  return parts < 8 ? 0 : parts < 64 ? 3 : parts < 1024 ? 5 : 8;
}

// args.out = the sum of `parts` matrices of its shape that lie one after another, + bias. `partial`
// may be args.out itself where parts == 1. If args.row_sums is not null, m numbers follow each
// matrix, and their sums go there. V neighbouring outputs have 2^lane_bits threads of a block;
// neighbouring threads have neighbouring outputs. The order of the sums does not depend on V.
// REQUIRES: vectors of V outputs are aligned, and are those of the matrix or of the m numbers.
template <class T, int V, class Out = T>
__global__ void __launch_bounds__(kReduceThreads)
    matmul_sum(const T* partial, int64_t parts, int lane_bits, const MatmulArgs<T, Out> args) {
  wait_for_earlier_kernels();
  __shared__ Vector<T, V> sums[kReduceThreads];
  const int lanes = 1 << lane_bits, across = kReduceThreads >> lane_bits;
  const int thread = static_cast<int>(threadIdx.x), lane = thread / across;
  const int64_t products = args.m * args.n, outputs = products + (args.row_sums ? args.m : 0);
  const int64_t i = (int64_t{blockIdx.x} * across + thread % across) * V;
  Vector<T, V> sum = {};
  const auto add = [&](const Vector<T, V>& more) {
#pragma unroll
    for (int v = 0; v < V; ++v) sum.at[v] += more.at[v];
  };
#pragma unroll 8
  for (int64_t p = lane; p < parts && i < outputs; p += lanes)
    add(load_vector<V>(partial + p * outputs + i));
  if (lanes > 1) {
    sums[thread] = sum;
    for (int reach = lanes / 2; reach > 0; reach /= 2) {
      __syncthreads();
      if (lane < reach) add(sums[thread + reach * across]), sums[thread] = sum;
    }
  }
  if (i >= outputs || lane > 0) return;
  const bool in_matrix = i < products;
  Vector<Out, V> out;
#pragma unroll
  for (int v = 0; v < V; ++v) {
    if (in_matrix && args.bias) sum.at[v] += T(bias_at(args, (i + v) % args.n));
    out.at[v] = static_cast<Out>(sum.at[v]);
  }
  store_vector(in_matrix ? args.out + i : args.row_sums + (i - products), out);
}

}  // namespace gradus::cuda
