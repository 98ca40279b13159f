// The kernels of the packed matrix product for one instruction set.
#include "gradus/cpu/simd/micro_kernel.h"

#include <algorithm>

#include "gradus/cpu/simd/set.h"
#include "gradus/cpu/simd/shuffles.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

// The tile, a row of b and an element of a fill the registers: 16 of 16 bytes, 16 of 32 bytes, or
// 32 of 64 bytes.
constexpr int kBytes = GRADUS_VECTOR, kVectors = 2;
constexpr int kRows = kBytes == 64 ? 12 : kBytes == 32 ? 6 : 4;

template <class T>
constexpr int kColumns = kVectors* kBytes / static_cast<int>(sizeof(T));

// How many steps ahead packed operands are asked for: they stream from the second-level cache, and
// at the end of a panel into the next one.
inline constexpr int kStepsOfB = 16, kStepsOfA = 32;

// Rows of a tile come in so many, for a matrix whose last ones do not fill a whole tile.
inline constexpr int kStep = kRows % 3 == 0 ? kRows / 3 : kRows / 2;

// Inlined, so that the steps are constants where the callers know them.
template <bool packed, int rows, class T>
GRADUS_TARGET __attribute__((always_inline)) inline void multiply_tile(
    int64_t k, const T* a, int64_t a_row, int64_t a_step, const T* b, int64_t b_row, T* out,
    int64_t out_row, const T* added, int64_t added_row) {
  typedef T Vector __attribute__((vector_size(kBytes), aligned(sizeof(T)), may_alias));
  // The tile is far away, perhaps, and is needed at the end alone.
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < kColumns<T>; c += 64 / static_cast<int>(sizeof(T)))
      __builtin_prefetch(out + r * out_row + c, 1);
  Vector sum[rows][kVectors] = {};
#pragma GCC unroll 2
  for (int64_t i = 0; i < k; ++i, a += a_step, b += b_row) {
    const Vector* row = reinterpret_cast<const Vector*>(b);
    if constexpr (packed) {
#pragma GCC unroll 4
      for (int c = 0; c < kColumns<T>; c += 64 / static_cast<int>(sizeof(T)))
        __builtin_prefetch(b + kStepsOfB * kColumns<T> + c);
      __builtin_prefetch(a + kStepsOfA * kRows);
    } else {  // the next tile's row, which lies far from this one's next
#pragma GCC unroll 4
      for (int c = 0; c < kColumns<T>; c += 64 / static_cast<int>(sizeof(T)))
        __builtin_prefetch(b + kColumns<T> + c);
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] += a[r * a_row] * row[v];
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    Vector* to = reinterpret_cast<Vector*>(out + r * out_row);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      to[v] =
          added ? reinterpret_cast<const Vector*>(added + r * added_row)[v] + sum[r][v] : sum[r][v];
  }
}

template <bool packed, class T>
GRADUS_TARGET __attribute__((always_inline)) inline void multiply_rows(
    int64_t rows, int64_t k, const T* a, int64_t a_row, int64_t a_step, const T* b, int64_t b_row,
    T* out, int64_t out_row, const T* added, int64_t added_row) {
  if (rows > kRows - kStep)
    multiply_tile<packed, kRows>(k, a, a_row, a_step, b, b_row, out, out_row, added, added_row);
  else if (rows > kStep)
    multiply_tile<packed, kRows - kStep>(k, a, a_row, a_step, b, b_row, out, out_row, added,
                                         added_row);
  else
    multiply_tile<packed, kStep>(k, a, a_row, a_step, b, b_row, out, out_row, added, added_row);
}

template <class T>
GRADUS_TARGET void multiply(int64_t rows, int64_t k, const T* a, const T* b, T* out,
                            int64_t out_row, const T* added, int64_t added_row) {
  multiply_rows<true>(rows, k, a, 1, kRows, b, kColumns<T>, out, out_row, added, added_row);
}

template <class T>
GRADUS_TARGET void multiply_in_place(int64_t rows, int64_t k, const T* a, int64_t a_row,
                                     int64_t a_column, const T* b, int64_t b_row, T* out,
                                     int64_t out_row) {
  multiply_rows<false, T>(rows, k, a, a_row, a_column, b, b_row, out, out_row, nullptr, 0);
}

// `groups` vectors of columns of a few rows; all but the first `skipped` columns are written.
template <int rows, int groups, class T>
GRADUS_TARGET __attribute__((always_inline)) inline void sum_columns(
    int64_t k, const T* a, int64_t a_row, const T* b, int64_t b_row, int64_t b_column, T* out,
    int64_t out_row, const T* added, int64_t added_row, int64_t skipped) {
  constexpr int lanes = kNumbers<T>;
  Numbers<T> sum[rows][groups] = {};
  int64_t i = 0;
  if (b_column == 1) {
    for (; i < k; ++i)
#pragma GCC unroll 4
      for (int g = 0; g < groups; ++g) {
        const Numbers<T> row = numbers(b + i * b_row + g * lanes).all;
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) sum[r][g] += a[r * a_row + i] * row;
      }
  } else {
    // A column is contiguous: a vector of each, since columns may lie so that caches hold few of
    // their lines at a time.
    for (; i + lanes <= k; i += lanes)
#pragma GCC unroll 4
      for (int g = 0; g < groups; ++g) {
        Numbers<T> row[lanes];
#pragma GCC unroll 16
        for (int l = 0; l < lanes; ++l) {
          const T* const from = b + (g * lanes + l) * b_column + i;
          row[l] = numbers(from).all;
          __builtin_prefetch(from + groups * lanes * b_column, 0, 2);
        }
        transpose<T>(row);
#pragma GCC unroll 16
        for (int l = 0; l < lanes; ++l)
#pragma GCC unroll 4
          for (int r = 0; r < rows; ++r) sum[r][g] += a[r * a_row + i + l] * row[l];
      }
    for (; i < k; ++i)
      for (int g = 0; g < groups; ++g) {
        Numbers<T> row;
        for (int l = 0; l < lanes; ++l) row[l] = b[(g * lanes + l) * b_column + i];
        for (int r = 0; r < rows; ++r) sum[r][g] += a[r * a_row + i] * row;
      }
  }
  for (int r = 0; r < rows; ++r)
    for (int g = 0; g < groups; ++g) {
      T* const to = out + r * out_row + g * lanes;
      const T* const from = added ? added + r * added_row + g * lanes : nullptr;
      if (skipped == 0)
        numbers(to).all = from ? numbers(from).all + sum[r][g] : sum[r][g];
      else
        for (int64_t l = skipped; l < lanes; ++l)
          to[l] = from ? from[l] + sum[r][g][l] : sum[r][g][l];
    }
}

template <int rows, class T>
GRADUS_TARGET void multiply_so_few(int64_t columns, int64_t k, const T* a, int64_t a_row,
                                   const T* b, int64_t b_row, int64_t b_column, T* out,
                                   int64_t out_row, const T* added, int64_t added_row) {
  constexpr int64_t lanes = kNumbers<T>;
  constexpr int groups = rows < 3 ? 4 : 2;  // the sums stay in registers
  int64_t c = 0;
  if (b_column == 1)
    for (; c + groups * lanes <= columns; c += groups * lanes)
      sum_columns<rows, groups>(k, a, a_row, b + c, b_row, 1, out + c, out_row,
                                added ? added + c : nullptr, added_row, 0);
  // The last vectors reach back over their neighbours.
  for (; c < columns; c += lanes) {
    const int64_t from = std::min(c, columns - lanes);
    sum_columns<rows, 1>(k, a, a_row, b + from * b_column, b_row, b_column, out + from, out_row,
                         added ? added + from : nullptr, added_row, c - from);
  }
}

template <class T>
void multiply_few(int64_t rows, int64_t columns, int64_t k, const T* a, int64_t a_row, const T* b,
                  int64_t b_row, int64_t b_column, T* out, int64_t out_row, const T* added,
                  int64_t added_row) {
  const auto run = [&](auto multiply) {
    multiply(columns, k, a, a_row, b, b_row, b_column, out, out_row, added, added_row);
  };
  rows == 1   ? run(multiply_so_few<1, T>)
  : rows == 2 ? run(multiply_so_few<2, T>)
  : rows == 3 ? run(multiply_so_few<3, T>)
              : run(multiply_so_few<4, T>);
}

}  // namespace
}  // namespace GRADUS_SET

template <class T>
const MicroKernel<T>& MicroKernel<T>::GRADUS_SET() {
  namespace set = cpu::GRADUS_SET;
  static constexpr MicroKernel kernel = {set::kRows,
                                         set::kStep,
                                         set::kColumns<T>,
                                         set::multiply<T>,
                                         set::multiply_in_place<T>,
                                         set::multiply_few<T>};
  return kernel;
}
template const MicroKernel<float>& MicroKernel<float>::GRADUS_SET();
template const MicroKernel<double>& MicroKernel<double>::GRADUS_SET();
template const MicroKernel<int64_t>& MicroKernel<int64_t>::GRADUS_SET();

}  // namespace gradus::cpu
