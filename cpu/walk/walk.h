// Strided iteration: walks over part of a strided view, one run of its innermost dimension at a
// time, and copies a run.
#pragma once

#include <algorithm>
#include <array>

#include "gradus/tensor/raw/strided.h"

namespace gradus::cpu {

// The innermost strides; 0 for a view of one element.
template <int N>
std::array<int64_t, N> inner_strides(const Strided<N>& s) {
  std::array<int64_t, N> out{};
  if (s.dims > 0)
    for (int n = 0; n < N; ++n) out[n] = s.stride[n][s.dims - 1];
  return out;
}

// to[i * to_step] = from[i * from_step]
template <class T>
void copy_run(int64_t n, T* to, int64_t to_step, const T* from, int64_t from_step) {
  if (to_step == 1 && from_step == 1)
    std::copy_n(from, n, to);
  else
    for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
}

// Cuts elements [begin, end) of the walk into runs along the innermost dimension. Calls f(offsets,
// count) for each run in order. offsets: where the run starts in each tensor.
template <int N, class F>
void walk(const Strided<N>& s, int64_t begin, int64_t end, F&& f) {
  if (begin == end) return;  // nothing, perhaps because a size is 0
  std::array<int64_t, N> offset{};
  int64_t at[kMaxDims];
  if (begin == 0) {  // without divisions, which take as long as a short run
    std::fill_n(at, s.dims, 0);
  } else {
    int64_t rest = begin;
    for (int d = s.dims; d-- > 0; rest /= s.size[d]) {
      at[d] = rest % s.size[d];
      for (int n = 0; n < N; ++n) offset[n] += at[d] * s.stride[n][d];
    }
  }
  const int inner = s.dims - 1;
  while (begin < end) {
    const int64_t count = inner < 0 ? 1 : std::min(s.size[inner] - at[inner], end - begin);
    f(offset, count);
    begin += count;
    if (begin == end) return;
    // The run ended with its dimension: carry into the outer ones.
    if (at[inner] != 0) {  // only the first run can begin within its dimension
      for (int n = 0; n < N; ++n) offset[n] -= at[inner] * s.stride[n][inner];
      at[inner] = 0;
    }
    for (int d = inner - 1;; --d) {
      for (int n = 0; n < N; ++n) offset[n] += s.stride[n][d];
      if (++at[d] < s.size[d]) break;
      for (int n = 0; n < N; ++n) offset[n] -= s.size[d] * s.stride[n][d];
      at[d] = 0;
    }
  }
}

}  // namespace gradus::cpu
