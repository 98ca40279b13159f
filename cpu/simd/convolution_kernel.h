// The innermost kernels of convolutions: products of rows with what a window sees, which is read
// where it lies. tap t of a window is at b + taps[t], and so on for the next places beside it.
#pragma once

#include <cstdint>

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// T is float or double. The terms of a sum and their order do not depend on the set.
template <class T>
struct ConvolutionKernel {
  // multiply: out[r * columns + p] = sum over t < k of a[r * k + t] * b[taps[t] + p], for `columns`
  // places p and up to `rows` rows, a multiple of step.
  int64_t rows, step, columns;
  void (*multiply)(int64_t rows, int64_t k, const T* a, const T* b, const int64_t* taps, T* out);

  // line: out[p] = bias + sum over t < k of a[t] * b[taps[t] + p], for `count` places p: one row,
  // written where it belongs. Reads up to `columns` elements behind the last place.
  void (*line)(int64_t k, const T* a, const T* b, const int64_t* taps, T bias, int64_t count,
               T* out);

  // fold: out[r * out_row + t] += sum over s < samples and p < places of
  // a[s * a_sample + r * a_row + p] * b[s * b_sample + taps[t] + p], for fold_rows rows and
  // fold_taps taps. places is a multiple of kLanes.
  static constexpr int64_t kLanes = 64 / sizeof(T);
  using Fold = void(int64_t samples, int64_t places, const T* a, int64_t a_sample, int64_t a_row,
                    const T* b, int64_t b_sample, const int64_t* taps, T* out, int64_t out_row);
  int64_t fold_rows, fold_taps;
  Fold* fold;
  // fold of one row, for line_taps taps.
  int64_t line_taps;
  Fold* fold_line;

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const ConvolutionKernel& name();
#include <gradus_sets.def>
};

}  // namespace gradus::cpu
