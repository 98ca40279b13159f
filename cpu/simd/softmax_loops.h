// The innermost loops of softmax, log_softmax, cross entropy and their gradients.
#pragma once

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// Most lines that are computed side by side.
inline constexpr int64_t kMaxWidth = 512;

// Functions of lines of n > 0 elements. `in` is x, or the gradient of the result and the result;
// `out` may be one of them. A line gives the same wherever it stands. AVX2 and AVX-512 give the
// same bits, but for softmax and log_softmax of float32, whose powers AVX-512 takes from a table.
template <class T>
struct SoftmaxLoop {
  // `count` lines, whose elements are neighbours in memory; `apart` says by how much the lines lie
  // apart in out, and in each of `in`.
  void (*lines)(int64_t n, int64_t count, const int64_t* apart, T* out, const T* const* in);
  // `width` lines side by side, at most kMaxWidth. Element i of line w is [i * step + w]; out and
  // each of `in` have their own step.
  void (*columns)(int64_t n, int64_t width, const int64_t* step, T* out, const T* const* in);
};

template <class T>
struct SoftmaxLoops {
  SoftmaxLoop<T> softmax, log_softmax, softmax_grad, log_softmax_grad;

  // Computes for each of `count` lines of x, which lie `apart`: the largest element, log(sum(e^(x -
  // largest))), and the mean of x - largest, where mean is not null.
  void (*log_sums)(int64_t n, int64_t count, int64_t apart, const T* x, T* top, T* log_sum,
                   T* mean);
  // A line of out = scale (e^((x - top) - log_sum) - less).
  void (*less_than_share)(int64_t n, const T* x, T top, T log_sum, T less, T scale, T* out);

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const SoftmaxLoops& name();
#include <gradus_sets.def>
};

}  // namespace gradus::cpu
