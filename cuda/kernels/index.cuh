// gather, where and add_offsets. An index out of range is reported and its access skipped; gather
// gives 0 in its place, so that no element stays unwritten.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/strided.cuh"
#include "gradus/cuda/runtime/fault.h"

namespace gradus::cuda {

inline constexpr int kIndexBatch = 4;  // numbers that a thread has under way

// Loads the numbers of a thread, `first` and those whole blocks after it, and where they lie. The
// index is array 1 of the walk. The loop breaks: a condition for each element takes more registers,
// and more time.
template <int N>
__device__ void load_numbers(const Strided<N>& walk, int64_t first, const int64_t* index,
                             Offsets<N, int64_t> (&at)[kIndexBatch],
                             int64_t (&number)[kIndexBatch]) {
#pragma unroll
  for (int b = 0; b < kIndexBatch; ++b) {
    if (first + b * blockDim.x >= walk.numel) break;
    at[b] = offsets_of(walk, first + b * blockDim.x);
    number[b] = index[at[b].at[1]];
  }
}

// The walk is over out, index, and x at index 0 of the indexed dimension, whose stride is `jump`.
template <class T>
__global__ void gather_kernel(Strided<3> walk, IndexRule rule, int64_t jump, Fault* fault, T* out,
                              const int64_t* index, const T* x) {
  wait_for_earlier_kernels();
  const int64_t first = int64_t{blockIdx.x} * kIndexBatch * blockDim.x + threadIdx.x;
  Offsets<3, int64_t> at[kIndexBatch];
  int64_t number[kIndexBatch];
  T value[kIndexBatch];
  load_numbers(walk, first, index, at, number);
#pragma unroll
  for (int b = 0; b < kIndexBatch; ++b) {
    if (first + b * blockDim.x >= walk.numel) break;
    const bool valid = in_range(fault, rule, number[b]);
    value[b] = valid ? x[at[b].at[2] + rule.place(number[b]) * jump] : T{};
  }
#pragma unroll
  for (int b = 0; b < kIndexBatch; ++b)
    if (first + b * blockDim.x < walk.numel) out[at[b].at[0]] = value[b];
}

// Functors for the elementwise kernels.
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
// Chooses between a number and a tensor.
template <class T>
struct WhereNumber {
  T number;
  bool first;  // where the condition is this, the number is taken
  __device__ T operator()(bool condition, T x) const { return condition == first ? number : x; }
};

}  // namespace gradus::cuda
