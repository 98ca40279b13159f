// The stages of a fast Fourier transform for one instruction set.
#include "gradus/cpu/simd/fft_loops.h"

#include "gradus/cpu/simd/set.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

template <class T>
struct FftVector {
  typedef T Type __attribute__((vector_size(GRADUS_VECTOR), aligned(sizeof(T)), may_alias));
};

// V is a vector of numbers, or one number.
template <class V>
struct Pair {
  V re, im;
};
template <class V>
inline void add_sub(Pair<V>& a, Pair<V>& b) {
  const Pair<V> sum{a.re + b.re, a.im + b.im}, rest{a.re - b.re, a.im - b.im};
  a = sum, b = rest;
}
// Times -i.
template <class V>
inline Pair<V> turned_back(const Pair<V>& a) {
  return {a.im, -a.re};
}

// a becomes its transform. Powers of 2 are halved; odd lengths pair elements j and R - j.
template <int R, class V, class T>
inline void transform(Pair<V>* a, const T* roots) {
  if constexpr (R == 2) {
    add_sub(a[0], a[1]);
  } else if constexpr (R == 4) {
    add_sub(a[0], a[2]), add_sub(a[1], a[3]);
    a[3] = turned_back(a[3]);
    add_sub(a[0], a[1]), add_sub(a[2], a[3]);
    const Pair<V> one = a[1];
    a[1] = a[2], a[2] = one;
  } else if constexpr (R == 8) {
    Pair<V> even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
    transform<4>(even, roots), transform<4>(odd, roots);
    const T half = roots[1];  // cos(pi / 4)
    odd[1] = {(odd[1].re + odd[1].im) * half, (odd[1].im - odd[1].re) * half};
    odd[2] = turned_back(odd[2]);
    odd[3] = {(odd[3].im - odd[3].re) * half, -(odd[3].re + odd[3].im) * half};
    for (int k = 0; k < 4; ++k) {
      add_sub(even[k], odd[k]);
      a[k] = even[k], a[k + 4] = odd[k];
    }
  } else {
    constexpr int kHalf = R / 2;
    const Pair<V> first = a[0];
    Pair<V> sum[kHalf + 1], rest[kHalf + 1];
#pragma GCC unroll 8
    for (int j = 1; j <= kHalf; ++j) {
      sum[j] = a[j], rest[j] = a[R - j];
      add_sub(sum[j], rest[j]);
      a[0].re += sum[j].re, a[0].im += sum[j].im;
    }
#pragma GCC unroll 8
    for (int k = 1; k <= kHalf; ++k) {
      Pair<V> c = first, d = {rest[1].re * roots[R + k], rest[1].im * roots[R + k]};
#pragma GCC unroll 8
      for (int j = 1; j <= kHalf; ++j) {
        const T cosine = roots[j * k % R], sine = roots[R + j * k % R];
        c.re += sum[j].re * cosine, c.im += sum[j].im * cosine;
        if (j > 1) d.re += rest[j].re * sine, d.im += rest[j].im * sine;
      }
      a[k] = {c.re + d.im, c.im - d.re}, a[R - k] = {c.re - d.im, c.im + d.re};
    }
  }
}

// Lanes from q on, as many as V holds, of transform p.
template <int R, class V, class T>
inline void lanes_of(int64_t m, int64_t lanes, int64_t p, int64_t q, const T* w, const T* roots,
                     const T* const* in, T* const* out) {
  Pair<V> a[R];
#pragma GCC unroll 13
  for (int j = 0; j < R; ++j) {
    const int64_t at = (j * m + p) * lanes + q;
    a[j] = {*reinterpret_cast<const V*>(in[0] + at), *reinterpret_cast<const V*>(in[1] + at)};
  }
  transform<R>(a, roots);
#pragma GCC unroll 13
  for (int k = 0; k < R; ++k) {
    const int64_t at = (p * R + k) * lanes + q;
    if (k > 0) {
      const T re = w[2 * k - 2], im = w[2 * k - 1];
      a[k] = {a[k].re * re - a[k].im * im, a[k].re * im + a[k].im * re};
    }
    *reinterpret_cast<V*>(out[0] + at) = a[k].re, *reinterpret_cast<V*>(out[1] + at) = a[k].im;
  }
}

template <int R, class T>
GRADUS_TARGET void stage_of(int64_t m, int64_t lanes, const T* twiddles, const T* roots,
                            const T* const* in, T* const* out) {
  constexpr int64_t kLanes = GRADUS_VECTOR / sizeof(T);
  for (int64_t p = 0; p < m; ++p) {
    const T* const w = twiddles + p * 2 * (R - 1);
    int64_t q = 0;
    for (; q + kLanes <= lanes; q += kLanes)
      lanes_of<R, typename FftVector<T>::Type>(m, lanes, p, q, w, roots, in, out);
    for (; q < lanes; ++q) lanes_of<R, T>(m, lanes, p, q, w, roots, in, out);
  }
}

template <class T>
void stage(int64_t radix, int64_t m, int64_t lanes, const T* twiddles, const T* roots,
           const T* const* in, T* const* out) {
  switch (radix) {
#define RADIX(r) \
  case r:        \
    return stage_of<r>(m, lanes, twiddles, roots, in, out);
    RADIX(2)
    RADIX(3)
    RADIX(4)
    RADIX(5)
    RADIX(7)
    RADIX(8)
    RADIX(11)
    RADIX(13)
#undef RADIX
    default:
      return;
  }
}

template <class T>
GRADUS_TARGET void multiply(int64_t n, int64_t lanes, const T* factors, T* const* z) {
  for (int64_t i = 0; i < n; ++i) {
    const T re = factors[2 * i], im = factors[2 * i + 1];
    T *const x = z[0] + i * lanes, *const y = z[1] + i * lanes;
#pragma omp simd
    for (int64_t q = 0; q < lanes; ++q) {
      const T a = x[q], b = y[q];
      x[q] = a * re - b * im, y[q] = a * im + b * re;
    }
  }
}

template <class T>
GRADUS_TARGET void ends(int64_t n, int64_t stride, int64_t lanes, const T* factors, const T* turn,
                        T scale, T* const* low, T* const* high) {
  for (int64_t k = 0; k < n; ++k) {
    const T re = factors[2 * k] * turn[0], im = factors[2 * k + 1] * turn[1];
    T *const a_re = low[0] + k * stride, *const a_im = low[1] + k * stride;
    T *const b_re = high[0] - k * stride, *const b_im = high[1] - k * stride;
#pragma omp simd
    for (int64_t q = 0; q < lanes; ++q) {
      const T sum_re = a_re[q] + b_re[q], sum_im = a_im[q] - b_im[q];
      const T rest_re = a_re[q] - b_re[q], rest_im = a_im[q] + b_im[q];
      const T p_re = rest_re * re - rest_im * im, p_im = rest_re * im + rest_im * re;
      a_re[q] = (sum_re + p_re) * scale, a_im[q] = (sum_im + p_im) * scale;
      b_re[q] = (sum_re - p_re) * scale, b_im[q] = (p_im - sum_im) * scale;
    }
  }
}

}  // namespace
}  // namespace GRADUS_SET

template <class T>
const FftLoops<T>& FftLoops<T>::GRADUS_SET() {
  static constexpr FftLoops loops = {cpu::GRADUS_SET::stage<T>, cpu::GRADUS_SET::multiply<T>,
                                     cpu::GRADUS_SET::ends<T>};
  return loops;
}
template const FftLoops<float>& FftLoops<float>::GRADUS_SET();
template const FftLoops<double>& FftLoops<double>::GRADUS_SET();

}  // namespace gradus::cpu
