// The kernels of a matrix times a vector for one instruction set.
#include "gradus/cpu/simd/vector_kernel.h"

#include "gradus/cpu/simd/set.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

// A vector as wide as the widest registers; narrower registers take several for it.
template <class T>
struct Wide {
  typedef T Type __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));
  static constexpr int64_t kLanes = 64 / sizeof(T);
};

// kRows rows side by side, for each of which kSums vectors are summed apart. `far` fetches the rows
// behind them into the second-level cache.
template <int kRows, bool far, class T>
GRADUS_TARGET void multiply_rows(int64_t k, const T* a, int64_t a_row, const T* b, T* out) {
  using Vector = typename Wide<T>::Type;
  constexpr int kSums = 2;
  constexpr int64_t kLanes = Wide<T>::kLanes, kStep = kSums * kLanes;
  Vector sum[kRows][kSums] = {};
  int64_t i = 0;
  for (; i + kStep <= k; i += kStep)
    for (int s = 0; s < kSums; ++s) {
      const Vector x = *reinterpret_cast<const Vector*>(b + i + s * kLanes);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const T* const row = a + r * a_row + i + s * kLanes;
        if constexpr (far) __builtin_prefetch(row + kRows * a_row, 0, 2);
        sum[r][s] += *reinterpret_cast<const Vector*>(row) * x;
      }
    }
  for (int r = 0; r < kRows; ++r) {
    const Vector both = sum[r][0] + sum[r][1];
    T lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = both[l];
    for (int64_t reach = kLanes / 2; reach > 0; reach /= 2)
      for (int64_t l = 0; l < reach; ++l) lane[l] += lane[l + reach];
    T rest = 0;
    for (int64_t j = i; j < k; ++j) rest += a[r * a_row + j] * b[j];
    out[r] = lane[0] + rest;
  }
}

template <bool far, class T>
GRADUS_TARGET void rows(int64_t rows, int64_t k, const T* a, int64_t a_row, const T* b, T* out) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) multiply_rows<4, far>(k, a + r * a_row, a_row, b, out + r);
  for (; r < rows; ++r) multiply_rows<1, false>(k, a + r * a_row, a_row, b, out + r);
}

template <class T>
GRADUS_TARGET void columns(int64_t rows, int64_t k, const T* a, int64_t a_column, const T* b,
                           T* out) {
  using Vector = typename Wide<T>::Type;
  constexpr int64_t kLanes = Wide<T>::kLanes, kVectors = 4;
  int64_t r = 0;
  for (; r + kVectors * kLanes <= rows; r += kVectors * kLanes) {
    Vector sum[kVectors] = {};
    for (int64_t i = 0; i < k; ++i)
#pragma GCC unroll 4
      for (int64_t v = 0; v < kVectors; ++v)
        sum[v] += *reinterpret_cast<const Vector*>(a + i * a_column + r + v * kLanes) * b[i];
    for (int64_t v = 0; v < kVectors; ++v)
      *reinterpret_cast<Vector*>(out + r + v * kLanes) = sum[v];
  }
  for (; r < rows; ++r) {
    T sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += a[i * a_column + r] * b[i];
    out[r] = sum;
  }
}

}  // namespace
}  // namespace GRADUS_SET

template <class T>
const VectorKernel<T>& VectorKernel<T>::GRADUS_SET() {
  static constexpr VectorKernel kernel = {
      cpu::GRADUS_SET::rows<false, T>, cpu::GRADUS_SET::rows<true, T>, cpu::GRADUS_SET::columns<T>};
  return kernel;
}
template const VectorKernel<float>& VectorKernel<float>::GRADUS_SET();
template const VectorKernel<double>& VectorKernel<double>::GRADUS_SET();
template const VectorKernel<int64_t>& VectorKernel<int64_t>::GRADUS_SET();

}  // namespace gradus::cpu
