// A common walk over N tensors of one shape: adjacent dimensions merge where every tensor allows
// it, and the dimension with the smallest stride of the first tensor comes last.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gradus/tensor/shape.h"

namespace gradus {

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

}  // namespace gradus
