// The innermost kernels of a matrix times a vector.
#pragma once

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// The terms of a sum and their order depend on k alone. T is float, double or int64_t.
template <class T>
struct VectorKernel {
  // out[r] = sum over i < k of a[r * a_row + i] * b[i], for r < rows.
  void (*rows)(int64_t rows, int64_t k, const T* a, int64_t a_row, const T* b, T* out);
  // The same for a matrix that the caches do not hold.
  void (*far_rows)(int64_t rows, int64_t k, const T* a, int64_t a_row, const T* b, T* out);
  // out[r] = sum over i < k of a[i * a_column + r] * b[i], for r < rows.
  void (*columns)(int64_t rows, int64_t k, const T* a, int64_t a_column, const T* b, T* out);

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const VectorKernel& name();
#include <gradus_sets.def>
};

}  // namespace gradus::cpu
