// The second pass of a product whose terms were split over several blocks, in a fixed order: no
// result depends on which block came first.
#pragma once

#include "gradus/cuda/kernels/matmul_tile.cuh"
#include "gradus/cuda/kernels/reduce.cuh"

namespace gradus::cuda {

// args.out = the sum of `parts` matrices of its shape that lie one after another, + bias. `partial`
// may be args.out itself where parts == 1. Each output has 2^lane_bits threads, up to a warp or all
// of the block.
template <class T>
__global__ void __launch_bounds__(kReduceThreads)
    matmul_sum(const T* partial, int64_t parts, int lane_bits, const MatmulArgs<T> args) {
  const int64_t outputs = args.m * args.n, lanes = int64_t{1} << lane_bits;
  const int64_t i = (int64_t{blockIdx.x} * kReduceThreads + threadIdx.x) >> lane_bits;
  T sum = 0;
#pragma unroll 4
  for (int64_t p = threadIdx.x & (lanes - 1); p < parts && i < outputs; p += lanes)
    sum += partial[p * outputs + i];
  sum = fold_lanes<scalar::Reduction<ReduceOp::sum>>(sum, static_cast<int>(lanes));
  if (i < outputs && (threadIdx.x & (lanes - 1)) == 0)
    args.out[i] = sum + bias_at(args, i % args.n);
}

}  // namespace gradus::cuda
