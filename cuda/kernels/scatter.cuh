// scatter, where elements of one place must meet in the order of the index: by a thread for each
// line of the index, or, for few lines, by a thread for each place. A line is what one position in
// the other dimensions sees of the indexed one. An index out of range is reported and skipped.
#pragma once

#include "gradus/cuda/fault.h"
#include "gradus/cuda/kernels/strided.cuh"
#include "gradus/tensor/scatter.h"

namespace gradus::cuda {

// The length of a line, and what out, index and src step by along it.
struct Line {
  int64_t length, jump, index_step, src_step;
};

// The walk is over the lines, in out, index and src.
template <ScatterOp op, class T>
__global__ void scatter_lines(Strided<3> lines, IndexRule rule, Line line, Fault* fault, T* out,
                              const int64_t* index, const T* src) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= lines.numel) return;
  const auto at = offsets_of(lines, i);
  for (int64_t k = 0; k < line.length; ++k) {
    const int64_t number = index[at.at[1] + k * line.index_step];
    if (!in_range(fault, rule, number)) continue;
    T& there = out[at.at[0] + rule.place(number) * line.jump];
    there = put_to<op>(there, src[at.at[2] + k * line.src_step]);
  }
}

// The place that a number stands for, from the start; `size`, which is none, for one that the rule
// does not allow. A functor of the elementwise kernels.
struct PlaceOf {
  IndexRule rule;
  Fault* fault;
  __device__ int64_t operator()(int64_t number) const {
    return in_range(fault, rule, number) ? rule.place(number) : rule.size;
  }
};

// The same with every line of places sorted, stably, so that those of one place are neighbours;
// `order` says where they were and lies in memory as `places` do. The thread of the first of them
// takes them all. Neighbouring threads do the same step of neighbouring lines.
template <ScatterOp op, class T>
__global__ void scatter_sorted(Strided<3> lines, int64_t size, Line line, T* out,
                               const int64_t* places, const int64_t* order, const T* src) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t first = i / lines.numel;
  if (first >= line.length) return;
  const auto at = offsets_of(lines, i - first * lines.numel);
  places += at.at[1];
  order += at.at[1];
  const int64_t place = places[first * line.index_step];
  if (place == size || (first > 0 && places[(first - 1) * line.index_step] == place)) return;
  T& there = out[at.at[0] + place * line.jump];
  T value = there;
  for (int64_t k = first; k < line.length && places[k * line.index_step] == place; ++k)
    value = put_to<op>(value, src[at.at[2] + order[k * line.index_step] * line.src_step]);
  there = value;
}

}  // namespace gradus::cuda
