// A matrix times a vector, where every element of the matrix is read once, and nothing is gained by
// a copy of it.
#include <algorithm>
#include <vector>

#include "gradus/cpu/matmul/product.h"
#include "gradus/cpu/simd/vector_kernel.h"

namespace gradus::cpu {

namespace {

// Terms of one sum that are summed at a time; the sums of them are added in order.
constexpr int64_t kTerms = 1 << 16;
// Elements of the matrix that outweigh the waking of a thread.
constexpr int64_t kMatrixGrain = 1 << 15;
// Bytes of a matrix that is fetched ahead. One that the second-level cache holds is read without.
constexpr int64_t kFar = 1 << 19;

// sums: p.m of each chunk.
template <class T>
void finish(const Product<T>& p, const T* sums, int64_t chunks) {
  for (int64_t i = 0; i < p.m; ++i) {
    T total = sums[i];
    for (int64_t c = 1; c < chunks; ++c) total += sums[c * p.m + i];
    p.out[i * p.out_row] = p.bias ? total + p.bias[i * p.bias_row] : total;
  }
}

}  // namespace

template <class T>
bool multiply_vector(const Product<T>& p) {
  if (p.n != 1) return p.m == 1 && multiply_vector(p.transposed());
  // Rows of one element that lie side by side are a column.
  const bool by_rows = p.a_column == 1 && (p.k > 1 || p.a_row != 1);
  if (!by_rows && p.a_row != 1) return false;
  // Strides of the vector change neither the code nor the order of a sum.
  std::vector<T> dense(p.b_row == 1 ? 0 : static_cast<size_t>(p.k));
  for (size_t i = 0; i < dense.size(); ++i) dense[i] = p.b[static_cast<int64_t>(i) * p.b_row];
  const T* const b = p.b_row == 1 ? p.b : dense.data();
  const VectorKernel<T>& kernel = table_of<VectorKernel<T>>();
  const int64_t chunks = std::max<int64_t>(divide_up(p.k, kTerms), 1);
  const bool in_place = chunks == 1 && p.out_row == 1;
  std::vector<T> memory(in_place ? 0 : static_cast<size_t>(p.m * chunks));
  T* const sums = in_place ? p.out : memory.data();
  const bool far = p.m * p.k * static_cast<int64_t>(sizeof(T)) > kFar;
  // The share is a multiple of what a kernel takes at once.
  const int64_t terms = std::max<int64_t>(std::min(p.k, kTerms), 1);
  const int64_t share = (kMatrixGrain / terms + 64) / 64 * 64, shares = divide_up(p.m, share);
  parallel_for(0, shares * chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i % shares * share, term = i / shares * kTerms;
      const int64_t rows = std::min(share, p.m - row), k = std::min(kTerms, p.k - term);
      T* const to = sums + i / shares * p.m + row;
      const T* const a = p.a + row * p.a_row + term * p.a_column;
      if (by_rows)
        (far ? kernel.far_rows : kernel.rows)(rows, k, a, p.a_row, b + term, to);
      else
        kernel.columns(rows, k, a, p.a_column, b + term, to);
    }
  });
  if (!in_place || p.bias) finish(p, sums, chunks);
  return true;
}

template bool multiply_vector(const Product<float>&);
template bool multiply_vector(const Product<double>&);
template bool multiply_vector(const Product<int64_t>&);

}  // namespace gradus::cpu
