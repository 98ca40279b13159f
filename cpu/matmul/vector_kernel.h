// The innermost kernels of a matrix times a vector.
#pragma once

#include <cstdint>

namespace gradus::cpu {

template <class T>
struct VectorKernel {
  // out[r] = sum over i < k of a[r * a_row + i] * b[i], for r < rows.
  void (*rows)(int64_t rows, int64_t k, const T* a, int64_t a_row, const T* b, T* out);
  // out[r] = sum over i < k of a[i * a_column + r] * b[i * b_row], for r < rows.
  void (*columns)(int64_t rows, int64_t k, const T* a, int64_t a_column, const T* b, int64_t b_row,
                  T* out);
};

// The fastest that this processor runs. What it sums, and in which order, depends on k alone.
template <class T>
const VectorKernel<T>& vector_kernel();

}  // namespace gradus::cpu
