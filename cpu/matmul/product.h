// One matrix product as the multiplying functions take it, and those functions.
#pragma once

#include <algorithm>

#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/micro_kernel.h"

namespace gradus::cpu {

// out (m, n) = a (m, k) * b (k, n) + bias. Any strides, in elements; bias may be null. Only k may
// be 0.
template <class T>
struct Product {
  int64_t m, n, k;
  const T *a, *b, *bias;
  T* out;
  int64_t a_row, a_column, b_row, b_column, bias_row, bias_column, out_row, out_column;
  // b lies in panels of all k rows, as pack() makes them for the kernel. Its steps go from row to
  // row and, over the columns of a panel, from column to column.
  bool b_is_packed = false;

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

// Multiplications and additions that are worth a thread. Twice as many are worth waking all of
// them.
inline constexpr int64_t kProductGrain = 1 << 17;

// The result, cut into one part for each thread, or a single one if the product is small. Parts are
// as square as possible; they have at least the size of a tile, their columns are whole tiles', and
// their rows multiples of row_step.
template <class T>
struct Parts {
  Parts(const Product<T>& product, int64_t tile_rows, int64_t row_step, int64_t tile_columns)
      : p(product) {
    const int64_t most = p.m * p.n * p.k / kProductGrain;
    const int64_t parts = most < 4 ? 1 : std::min<int64_t>(thread_count(), most);
    int64_t down = 1;
    for (int64_t d = 1; d <= parts; ++d)
      if (parts % d == 0 && p.m / d + p.n / (parts / d) < p.m / down + p.n / (parts / down))
        down = d;
    const auto share = [](int64_t size, int64_t cuts, int64_t tile) {
      return cuts == 1 ? size : divide_up(size, cuts * tile) * tile;
    };
    rows = std::max(share(p.m, down, row_step), tile_rows);
    columns = share(p.n, parts / down, tile_columns);
    across = divide_up(p.n, columns);
    count = divide_up(p.m, rows) * across;
  }

  Product<T> operator[](int64_t i) const {
    const int64_t row = i / across * rows, column = i % across * columns;
    return p.part(row, std::min(rows, p.m - row), column, std::min(columns, p.n - column));
  }

  Product<T> p;
  int64_t rows, columns, across, count;
};

// Multiplies by the fastest of these functions, or by the chosen one (matmul.h).
template <class T>
void multiply_chosen(const Product<T>& p);

// Gives the bits of a packed product, without a copy of b. Returns false, and does nothing, where
// MicroKernel::multiply_few does not take the sizes or the strides.
template <class T>
bool multiply_few(const Product<T>& p, const MicroKernel<T>& kernel);

// Straight from the operands, in one thread: for products too small to prepare anything.
template <class T>
void multiply_small(const Product<T>& p);

// A matrix times a vector, or a vector times a matrix, which is read where it lies. Returns false
// and does nothing if neither operand is a vector, or the strides do not allow it.
template <class T>
bool multiply_vector(const Product<T>& p);

// Multiplies by blocks whose operands are packed first. REQUIRES: n >= kernel.columns where
// b_is_packed.
// Errors: OutOfMemoryError.
template <class T>
void multiply_packed(const Product<T>& p, const MicroKernel<T>& kernel);

// Multiplies by OpenBLAS. Returns false and does nothing if the build or the strides do not allow
// it.
bool have_blas();
bool multiply_blas(const Product<float>& p);
bool multiply_blas(const Product<double>& p);

}  // namespace gradus::cpu
