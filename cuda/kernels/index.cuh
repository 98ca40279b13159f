// gather and scatter_add. An index out of range is reported and its access skipped; gather gives 0
// in its place, so that no element stays unwritten.
#pragma once

#include "gradus/cuda/fault.h"
#include "gradus/cuda/kernels/strided.cuh"

namespace gradus::cuda {

// The dimension that an index selects along, in the tensor it selects from.
struct IndexedDim {
  int dim;
  int64_t size, stride;
};

// The walk is over out, index, and x at index 0.
template <class T>
__global__ void gather_kernel(Strided<3> walk, IndexedDim along, Fault* fault, T* out,
                              const int64_t* index, const T* x) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= walk.numel) return;
  const auto at = offsets_of(walk, i);
  const int64_t selected = index[at.at[1]];
  const bool valid = in_range(fault, FaultOp::gather, along.dim, selected, along.size);
  out[at.at[0]] = valid ? x[at.at[2] + selected * along.stride] : T(0);
}

// What index and src step by along the dimension.
struct ScatterRun {
  int64_t count, index_stride, src_stride;
};

// The walk is over out, index and src with the dimension taken out. A thread adds one run after the
// other, so that two equal indices add in the same order each time.
template <class T>
__global__ void scatter_add_kernel(Strided<3> walk, IndexedDim along, ScatterRun run, Fault* fault,
                                   T* out, const int64_t* index, const T* src) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= walk.numel) return;
  const auto at = offsets_of(walk, i);
  for (int64_t k = 0; k < run.count; ++k) {
    const int64_t selected = index[at.at[1] + k * run.index_stride];
    if (in_range(fault, FaultOp::scatter_add, along.dim, selected, along.size))
      out[at.at[0] + selected * along.stride] += src[at.at[2] + k * run.src_stride];
  }
}

}  // namespace gradus::cuda
