// The kernels of the packed matrix product for one instruction set.
#include "gradus/cpu/simd/micro_kernel.h"

#include "gradus/cpu/simd/set.h"

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
GRADUS_TARGET __attribute__((always_inline)) inline void multiply_tile(int64_t k, const T* a,
                                                                       int64_t a_row,
                                                                       int64_t a_step, const T* b,
                                                                       int64_t b_row, T* out,
                                                                       int64_t out_row, bool adds) {
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
    for (int v = 0; v < kVectors; ++v) to[v] = adds ? to[v] + sum[r][v] : sum[r][v];
  }
}

template <bool packed, class T>
GRADUS_TARGET __attribute__((always_inline)) inline void multiply_rows(int64_t rows, int64_t k,
                                                                       const T* a, int64_t a_row,
                                                                       int64_t a_step, const T* b,
                                                                       int64_t b_row, T* out,
                                                                       int64_t out_row, bool adds) {
  if (rows > kRows - kStep)
    multiply_tile<packed, kRows>(k, a, a_row, a_step, b, b_row, out, out_row, adds);
  else if (rows > kStep)
    multiply_tile<packed, kRows - kStep>(k, a, a_row, a_step, b, b_row, out, out_row, adds);
  else
    multiply_tile<packed, kStep>(k, a, a_row, a_step, b, b_row, out, out_row, adds);
}

template <class T>
GRADUS_TARGET void multiply(int64_t rows, int64_t k, const T* a, const T* b, T* out,
                            int64_t out_row, bool adds) {
  multiply_rows<true>(rows, k, a, 1, kRows, b, kColumns<T>, out, out_row, adds);
}

template <class T>
GRADUS_TARGET void multiply_in_place(int64_t rows, int64_t k, const T* a, int64_t a_row, const T* b,
                                     int64_t b_row, T* out, int64_t out_row) {
  multiply_rows<false>(rows, k, a, a_row, 1, b, b_row, out, out_row, false);
}

}  // namespace
}  // namespace GRADUS_SET

template <class T>
const MicroKernel<T>& MicroKernel<T>::GRADUS_SET() {
  namespace set = cpu::GRADUS_SET;
  static constexpr MicroKernel kernel = {set::kRows, set::kStep, set::kColumns<T>, set::multiply<T>,
                                         set::multiply_in_place<T>};
  return kernel;
}
template const MicroKernel<float>& MicroKernel<float>::GRADUS_SET();
template const MicroKernel<double>& MicroKernel<double>::GRADUS_SET();
template const MicroKernel<int64_t>& MicroKernel<int64_t>::GRADUS_SET();

}  // namespace gradus::cpu
