// Matrix products too small to prepare anything.
#include "gradus/cpu/matmul/product.h"

namespace gradus::cpu {

namespace {

// A tile of R x C results whose sums stay in registers. Where neighbours in a row are neighbours in
// memory, the compiler makes vector code of a tile.
template <int R, int C, bool kNeighbours, class T>
void multiply_in_registers(const Product<T>& p, int64_t row, int64_t column) {
  const int64_t b_column = kNeighbours ? 1 : p.b_column,
                out_column = kNeighbours ? 1 : p.out_column;
  T sum[R][C] = {};
  const T* a = p.a + row * p.a_row;
  const T* b = p.b + column * b_column;
  for (int64_t i = 0; i < p.k; ++i, a += p.a_column, b += p.b_row)
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c) sum[r][c] += a[r * p.a_row] * b[c * b_column];
  if (p.bias)
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c)
        sum[r][c] += p.bias[(row + r) * p.bias_row + (column + c) * p.bias_column];
  T* const out = p.out + row * p.out_row + column * out_column;
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) out[r * p.out_row + c * out_column] = sum[r][c];
}

template <int R, bool kNeighbours, class T>
void multiply_rows(const Product<T>& p, int64_t row) {
  int64_t column = 0;
  if constexpr (kNeighbours)
    for (; column + 8 <= p.n; column += 8) multiply_in_registers<R, 8, true>(p, row, column);
  for (; column + 4 <= p.n; column += 4) multiply_in_registers<R, 4, kNeighbours>(p, row, column);
  for (; column < p.n; ++column) multiply_in_registers<R, 1, kNeighbours>(p, row, column);
}

template <bool kNeighbours, class T>
void multiply_tiles(const Product<T>& p) {
  int64_t row = 0;
  for (; row + 4 <= p.m; row += 4) multiply_rows<4, kNeighbours>(p, row);
  for (; row < p.m; ++row) multiply_rows<1, kNeighbours>(p, row);
}

}  // namespace

template <class T>
void multiply_small(const Product<T>& p) {
  if (p.b_column == 1 && p.out_column == 1)
    multiply_tiles<true>(p);
  else
    multiply_tiles<false>(p);
}

template void multiply_small(const Product<float>&);
template void multiply_small(const Product<double>&);
template void multiply_small(const Product<int64_t>&);

}  // namespace gradus::cpu
