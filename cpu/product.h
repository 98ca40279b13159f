// One matrix product as the multiplying functions take it, and those functions.
#pragma once

#include <utility>

#include "gradus/cpu/micro_kernel.h"

namespace gradus::cpu {

// out (m, n) = a (m, k) * b (k, n) + bias. Any strides, in elements; bias may be null. Of the sizes
// only k may be 0.
template <class T>
struct Product {
  int64_t m, n, k;
  const T *a, *b, *bias;
  T* out;
  int64_t a_row, a_column, b_row, b_column, bias_row, bias_column, out_row, out_column;

  // The same product read as out^T = b^T * a^T.
  Product transposed() const {
    return {n,     m,        k,     b,           a,        bias,       out,    b_column,
            b_row, a_column, a_row, bias_column, bias_row, out_column, out_row};
  }
  // Rows [row, row + rows) and columns [column, column + columns) of it.
  Product part(int64_t row, int64_t rows, int64_t column, int64_t columns) const {
    Product p = *this;
    p.m = rows, p.n = columns;
    p.a += row * a_row, p.b += column * b_column;
    p.out += row * out_row + column * out_column;
    if (bias) p.bias += row * bias_row + column * bias_column;
    return p;
  }
};

// Multiplications and additions that outweigh the waking of a thread.
inline constexpr int64_t kProductGrain = 1 << 18;

// Straight from the operands, in one thread: for products too small to prepare anything.
template <class T>
void multiply_small(const Product<T>& p);

// By blocks whose operands are packed first. Errors: OutOfMemoryError before anything is written.
template <class T>
void multiply_packed(const Product<T>& p, const MicroKernel<T>& kernel);

// By OpenBLAS; false, and nothing done, where the build or the strides do not allow it.
bool have_blas();
bool multiply_blas(const Product<float>& p);
bool multiply_blas(const Product<double>& p);

}  // namespace gradus::cpu
