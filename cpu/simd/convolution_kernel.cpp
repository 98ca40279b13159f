// The kernels of convolutions for one instruction set.
#include "gradus/cpu/simd/convolution_kernel.h"

#include <algorithm>
#include <cstring>

#include "gradus/cpu/simd/set.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

// The tile, a row of b and an element of a fill the registers, as in micro_kernel.cpp.
constexpr int kConvBytes = GRADUS_VECTOR, kConvVectors = 2;
constexpr int kConvRows = kConvBytes == 64 ? 12 : kConvBytes == 32 ? 6 : 4;
constexpr int kConvStep = 2;
template <class T>
constexpr int kConvColumns = kConvVectors* kConvBytes / static_cast<int>(sizeof(T));

template <class T>
struct ConvVector {
  typedef T Type __attribute__((vector_size(kConvBytes), aligned(sizeof(T)), may_alias));
};

template <int rows, class T>
GRADUS_TARGET __attribute__((always_inline)) inline void multiply_window(int64_t k, const T* a,
                                                                         const T* b,
                                                                         const int64_t* taps,
                                                                         T* out) {
  using Vector = typename ConvVector<T>::Type;
  Vector sum[rows][kConvVectors] = {};
  for (int64_t t = 0; t < k; ++t) {
    const Vector* row = reinterpret_cast<const Vector*>(b + taps[t]);
    Vector seen[kConvVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kConvVectors; ++v) seen[v] = row[v];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < kConvVectors; ++v) sum[r][v] += a[r * k + t] * seen[v];
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    Vector* to = reinterpret_cast<Vector*>(out + r * kConvColumns<T>);
#pragma GCC unroll 2
    for (int v = 0; v < kConvVectors; ++v) to[v] = sum[r][v];
  }
}

// Multiplies with the fewest rows that are enough.
template <int most, class T>
GRADUS_TARGET __attribute__((always_inline)) inline void multiply_rows(int64_t rows, int64_t k,
                                                                       const T* a, const T* b,
                                                                       const int64_t* taps,
                                                                       T* out) {
  if constexpr (most > kConvStep)
    if (rows <= most - kConvStep) return multiply_rows<most - kConvStep>(rows, k, a, b, taps, out);
  multiply_window<most>(k, a, b, taps, out);
}

template <class T>
GRADUS_TARGET void multiply_windows(int64_t rows, int64_t k, const T* a, const T* b,
                                    const int64_t* taps, T* out) {
  multiply_rows<kConvRows>(rows, k, a, b, taps, out);
}

// Up to so many vectors, of which the last one may be short.
template <int vectors, class T>
GRADUS_TARGET __attribute__((always_inline)) inline void multiply_line_part(
    int64_t k, const T* a, const T* b, const int64_t* taps, T bias, int64_t count, T* out) {
  using Vector = typename ConvVector<T>::Type;
  Vector sum[vectors] = {};
  for (int64_t t = 0; t < k; ++t) {
    const Vector* row = reinterpret_cast<const Vector*>(b + taps[t]);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sum[v] += a[t] * row[v];
  }
  constexpr int64_t kLanes = kConvBytes / sizeof(T);
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) {
    const Vector result = sum[v] + bias;
    T* const to = out + v * kLanes;
    if (v < vectors - 1 || count == vectors * kLanes)
      *reinterpret_cast<Vector*>(to) = result;
    else
      std::memcpy(to, &result, static_cast<size_t>(count - v * kLanes) * sizeof(T));
  }
}

template <class T>
GRADUS_TARGET void multiply_line(int64_t k, const T* a, const T* b, const int64_t* taps, T bias,
                                 int64_t count, T* out) {
  constexpr int64_t kLanes = kConvBytes / sizeof(T), kMost = 4 * kLanes;
  for (; count > 3 * kLanes; count -= kMost, b += kMost, out += kMost)
    multiply_line_part<4>(k, a, b, taps, bias, std::min(count, kMost), out);
  if (count > 2 * kLanes) return multiply_line_part<3>(k, a, b, taps, bias, count, out);
  if (count > kLanes) return multiply_line_part<2>(k, a, b, taps, bias, count, out);
  if (count > 0) multiply_line_part<1>(k, a, b, taps, bias, count, out);
}

// Sums are kept in 64 bytes of lanes whatever a vector's width, and folded in pairs.
constexpr int kFoldParts = 64 / kConvBytes;
constexpr int kFoldRows = kConvBytes == 64 ? 4 : 2, kFoldTaps = kConvBytes == 64 ? 6 : 3;
constexpr int kLineTaps = kConvBytes == 64 ? 9 : kConvBytes == 32 ? 6 : 3;

template <class T, int kRows, int kTaps>
GRADUS_TARGET void fold_windows(int64_t samples, int64_t places, const T* a, int64_t a_sample,
                                int64_t a_row, const T* b, int64_t b_sample, const int64_t* taps,
                                T* out, int64_t out_row) {
  using Vector = typename ConvVector<T>::Type;
  constexpr int kLanes = 64 / static_cast<int>(sizeof(T)), kStep = kLanes / kFoldParts;
  Vector sum[kRows][kTaps][kFoldParts] = {};
  for (int64_t s = 0; s < samples; ++s, a += a_sample, b += b_sample) {
    const T* seen[kTaps];
    for (int t = 0; t < kTaps; ++t) seen[t] = b + taps[t];
    for (int64_t p = 0; p < places; p += kLanes) {
#pragma GCC unroll 4
      for (int v = 0; v < kFoldParts; ++v) {
        Vector row[kRows];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r)
          row[r] = *reinterpret_cast<const Vector*>(a + r * a_row + p + v * kStep);
#pragma GCC unroll 9
        for (int t = 0; t < kTaps; ++t) {
          const Vector x = *reinterpret_cast<const Vector*>(seen[t] + p + v * kStep);
#pragma GCC unroll 4
          for (int r = 0; r < kRows; ++r) sum[r][t][v] += row[r] * x;
        }
      }
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int t = 0; t < kTaps; ++t) {
      T lane[kLanes];
      for (int v = 0; v < kFoldParts; ++v)
        *reinterpret_cast<Vector*>(lane + v * kStep) = sum[r][t][v];
      for (int half = kLanes / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
      out[r * out_row + t] += lane[0];
    }
}

}  // namespace
}  // namespace GRADUS_SET

template <class T>
const ConvolutionKernel<T>& ConvolutionKernel<T>::GRADUS_SET() {
  namespace set = cpu::GRADUS_SET;
  static constexpr ConvolutionKernel kernel = {
      set::kConvRows,        set::kConvStep,
      set::kConvColumns<T>,  set::multiply_windows<T>,
      set::multiply_line<T>, set::kFoldRows,
      set::kFoldTaps,        set::fold_windows<T, set::kFoldRows, set::kFoldTaps>,
      set::kLineTaps,        set::fold_windows<T, 1, set::kLineTaps>};
  return kernel;
}
template const ConvolutionKernel<float>& ConvolutionKernel<float>::GRADUS_SET();
template const ConvolutionKernel<double>& ConvolutionKernel<double>::GRADUS_SET();

}  // namespace gradus::cpu
