// Strided iteration, as PyTorch's TensorIterator: a walk over N tensors of one shape, in as few
// dimensions as their layouts allow.
//
// An elementwise operation may visit elements in any order, if it visits the same one in all of its
// tensors. So collapse() drops dimensions of size 1. It puts the dimension with the smallest stride
// of the first tensor last. It merges two neighbours into one where that is the same walk for every
// tensor. Kernels and loops then see few dimensions, most often one: three contiguous tensors of
// shape {8, 3, 5} become
//   dims = 1, size = {120}, stride = {{1}, {1}, {1}};
// if the third is a column of shape {8, 1, 1} that is broadcast, it takes two dimensions:
//   dims = 2, size = {8, 15}, stride = {{15, 1}, {15, 1}, {1, 0}}.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gradus/tensor/shape.h"

namespace gradus {

// The walk: element (i, j, ...) of tensor n is stride[n][0] * i + stride[n][1] * j + ... elements
// behind its first one. The tensor that is written comes first.
template <int N, class Index = int64_t>
struct Strided {
  int dims = 0;  // 0: one element
  Index numel = 1;
  Index size[kMaxDims];
  Index stride[N][kMaxDims];  // in elements

  // Whether every tensor lies in memory in the order of the walk, without gaps.
  bool contiguous() const {
    if (dims == 0) return true;
    if (dims > 1) return false;
    for (int n = 0; n < N; ++n)
      if (stride[n][0] != 1) return false;
    return true;
  }
};

// The walk over tensors of shape `sizes` with these strides.
// REQUIRES: strides[n] has sizes.size() elements, for each of N tensors; the first is written to.
template <int N>
Strided<N> collapse(IntArrayRef sizes, const std::array<IntArrayRef, N>& strides) {
  Strided<N> out;
  int order[kMaxDims];
  int count = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    out.numel *= sizes[d];
    if (sizes[d] != 1) order[count++] = static_cast<int>(d);
  }
  // Stable, by decreasing stride of the first tensor, then of the next where that one broadcasts.
  const auto before = [&](int a, int b) {
    for (int n = 0; n < N; ++n) {
      const int64_t x = strides[n][a], y = strides[n][b];
      if (x != y && x != 0 && y != 0) return x > y;
    }
    return false;
  };
  for (int i = 1; i < count; ++i)
    for (int j = i; j > 0 && before(order[j], order[j - 1]); --j) std::swap(order[j], order[j - 1]);
  for (int i = 0; i < count; ++i) {
    const int d = order[i];
    bool merges = out.dims > 0;
    for (int n = 0; merges && n < N; ++n)
      merges = out.stride[n][out.dims - 1] == strides[n][d] * sizes[d];
    if (merges) {
      out.size[out.dims - 1] *= sizes[d];
    } else {
      out.size[out.dims++] = sizes[d];
    }
    for (int n = 0; n < N; ++n) out.stride[n][out.dims - 1] = strides[n][d];
  }
  return out;
}

// A reduction as two walks: over the outputs (in out and in x), and over the elements of x that are
// folded into each. out has x's rank; the dimensions where the sizes differ are reduced.
struct ReductionWalks {
  Strided<2> kept;
  Strided<1> reduced;
};
inline ReductionWalks reduction_walks(IntArrayRef x_sizes, IntArrayRef x_strides,
                                      IntArrayRef out_sizes, IntArrayRef out_strides) {
  Dims kept, kept_out, kept_x, reduced, reduced_x;
  for (size_t d = 0; d < x_sizes.size(); ++d) {
    const bool keeps = x_sizes[d] == out_sizes[d];
    (keeps ? kept : reduced).push_back(x_sizes[d]);
    (keeps ? kept_x : reduced_x).push_back(x_strides[d]);
    if (keeps) kept_out.push_back(out_strides[d]);
  }
  return {collapse<2>(kept, {kept_out, kept_x}), collapse<1>(reduced, {reduced_x})};
}

}  // namespace gradus
