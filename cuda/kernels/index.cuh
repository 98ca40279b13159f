// gather, where and add_offsets. An index out of range is reported and its access skipped; gather
// gives 0 in its place, so that no element stays unwritten.
#pragma once

#include "gradus/cuda/fault.h"
#include "gradus/cuda/kernels/strided.cuh"

namespace gradus::cuda {

// The walk is over out, index, and x at index 0 of the indexed dimension, whose stride is `jump`.
template <class T>
__global__ void gather_kernel(Strided<3> walk, IndexRule rule, int64_t jump, Fault* fault, T* out,
                              const int64_t* index, const T* x) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= walk.numel) return;
  const auto at = offsets_of(walk, i);
  const int64_t number = index[at.at[1]];
  const bool valid = in_range(fault, rule, number);
  out[at.at[0]] = valid ? x[at.at[2] + rule.place(number) * jump] : T{};
}

// As functors of the elementwise kernels.
struct AddOffset {
  IndexRule rule;
  int64_t stride;
  Fault* fault;
  __device__ int64_t operator()(int64_t sum, int64_t number) const {
    return in_range(fault, rule, number) ? sum + rule.place(number) * stride : sum;
  }
};
struct Where {
  template <class T>
  __device__ T operator()(bool condition, T x, T y) const {
    return condition ? x : y;
  }
};

}  // namespace gradus::cuda
