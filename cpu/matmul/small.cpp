// Matrix products too small to prepare anything.
#include "gradus/cpu/matmul/product.h"

namespace gradus::cpu {

namespace {

// A tile of R x C results whose sums stay in registers.
template <int R, int C, class T>
void multiply_in_registers(const Product<T>& p, int64_t row, int64_t column) {
  T sum[R][C] = {};
  const T* a = p.a + row * p.a_row;
  const T* b = p.b + column * p.b_column;
  for (int64_t i = 0; i < p.k; ++i, a += p.a_column, b += p.b_row)
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c) sum[r][c] += a[r * p.a_row] * b[c * p.b_column];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) {
      if (p.bias) sum[r][c] += p.bias[(row + r) * p.bias_row + (column + c) * p.bias_column];
      p.out[(row + r) * p.out_row + (column + c) * p.out_column] = sum[r][c];
    }
}

template <int R, class T>
void multiply_rows(const Product<T>& p, int64_t row) {
  int64_t column = 0;
  for (; column + 4 <= p.n; column += 4) multiply_in_registers<R, 4>(p, row, column);
  for (; column < p.n; ++column) multiply_in_registers<R, 1>(p, row, column);
}

}  // namespace

template <class T>
void multiply_small(const Product<T>& p) {
  int64_t row = 0;
  for (; row + 4 <= p.m; row += 4) multiply_rows<4>(p, row);
  for (; row < p.m; ++row) multiply_rows<1>(p, row);
}

template void multiply_small(const Product<float>&);
template void multiply_small(const Product<double>&);
template void multiply_small(const Product<int64_t>&);

}  // namespace gradus::cpu
