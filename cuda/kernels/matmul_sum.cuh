// The second pass of a product whose terms were split over several blocks, in a fixed order: no
// result depends on which block came first.
#pragma once

#include "gradus/cuda/kernels/matmul_tile.cuh"

namespace gradus::cuda {

// args.out = the sum of `parts` matrices of its shape that lie one after another, + bias. `partial`
// may be args.out itself where parts == 1. A block of 256 threads makes 256 outputs.
template <class T>
__global__ void __launch_bounds__(256)
    matmul_sum(const T* partial, int64_t parts, const MatmulArgs<T> args) {
  const int64_t outputs = args.m * args.n;
  const int64_t i = int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i >= outputs) return;
  T sum = 0;
#pragma unroll 4
  for (int64_t p = 0; p < parts; ++p) sum += partial[p * outputs + i];
  args.out[i] = sum + bias_at(args, i % args.n);
}

}  // namespace gradus::cuda
