// The stages of a fast Fourier transform for one instruction set.
#include "gradus/cpu/simd/fft_loops.h"

#include <numbers>

#include "gradus/cpu/simd/shuffles.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

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
template <class V, class S>
inline Pair<V> product(const Pair<V>& a, const S& re, const S& im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}
// Times -i.
template <class V>
inline Pair<V> turned_back(const Pair<V>& a) {
  return {a.im, -a.re};
}

// a becomes its transform. 8 is halved, and 16 a square; odd lengths pair elements j and R - j.
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
    const T half = std::numbers::sqrt2_v<T> / 2;
    odd[1] = {(odd[1].re + odd[1].im) * half, (odd[1].im - odd[1].re) * half};
    odd[2] = turned_back(odd[2]);
    odd[3] = {(odd[3].im - odd[3].re) * half, -(odd[3].re + odd[3].im) * half};
    for (int k = 0; k < 4; ++k) {
      add_sub(even[k], odd[k]);
      a[k] = even[k], a[k + 4] = odd[k];
    }
  } else if constexpr (R == 16) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      Pair<V> column[4] = {a[j], a[j + 4], a[j + 8], a[j + 12]};
      transform<4>(column, roots);
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k)
        a[j + 4 * k] = j * k == 0   ? column[k]
                       : j * k == 4 ? turned_back(column[k])
                                    : product<V, T>(column[k], roots[j * k], -roots[16 + j * k]);
    }
    Pair<V> rows[16];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      transform<4>(a + 4 * k, roots);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) rows[k + 4 * i] = a[4 * k + i];
    }
#pragma GCC unroll 16
    for (int k = 0; k < 16; ++k) a[k] = rows[k];
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

// Both move as many numbers as V holds.
template <class V, class T>
inline void get(V& x, const T* at) {
  if constexpr (sizeof(V) == sizeof(T))
    x = *at;
  else
    x = numbers(at).all;
}
template <class V, class T>
inline void put(T* at, const V& x) {
  if constexpr (sizeof(V) == sizeof(T))
    *at = x;
  else
    numbers(at).all = x;
}

// Elements from q on, as many as V holds, of every m-th of R rows. `ahead` numbers behind them lie
// those that are read next.
template <int R, class V, class T>
inline void load(const FftRows<const T>& in, int64_t m, int64_t q, int64_t ahead, Pair<V>* a) {
  constexpr int64_t kCount = sizeof(V) / sizeof(T);
  const int64_t step = m * in.step;
  if (in.width == 1) {
    const T *re = in.re + q, *im = in.im + q;
#pragma GCC unroll 16
    for (int j = 0; j < R; ++j, re += step, im += step) get(a[j].re, re), get(a[j].im, im);
    return;
  }
  const T* at = (in.re < in.im ? in.re : in.im) + 2 * q;
#pragma GCC unroll 16
  for (int j = 0; j < R; ++j, at += step) {
    get(a[j].re, at), get(a[j].im, at + kCount);
    if constexpr (kCount > 1) {
      __builtin_prefetch(at + ahead), __builtin_prefetch(at + ahead + kCount);
      separate(a[j].re, a[j].im, std::make_integer_sequence<int, kCount>());
    }
  }
  if (in.re > in.im)
#pragma GCC unroll 16
    for (int j = 0; j < R; ++j) std::swap(a[j].re, a[j].im);
}
template <int R, class V, class T>
inline void store(const FftRows<T>& out, int64_t q, T scale, Pair<V>* a) {
  constexpr int64_t kCount = sizeof(V) / sizeof(T);
  if (out.width == 1) {
    T *re = out.re + q, *im = out.im + q;
#pragma GCC unroll 16
    for (int k = 0; k < R; ++k, re += out.step, im += out.step) put(re, a[k].re), put(im, a[k].im);
    return;
  }
  if (out.re > out.im)
#pragma GCC unroll 16
    for (int k = 0; k < R; ++k) std::swap(a[k].re, a[k].im);
  T* at = (out.re < out.im ? out.re : out.im) + 2 * q;
#pragma GCC unroll 16
  for (int k = 0; k < R; ++k, at += out.step) {
    V x = a[k].re * scale, y = a[k].im * scale;
    if constexpr (kCount > 1) interleave<kCount>(x, y, std::make_integer_sequence<int, kCount>());
    put(at, x), put(at + kCount, y);
  }
}

// Lanes from q on, as many as V holds, of one transform.
template <int R, class V, class T>
inline void lanes_of(int64_t m, int64_t lanes, int64_t q, const T* w, const T* roots,
                     const FftRows<const T>& in, const FftRows<T>& out, T scale) {
  Pair<V> a[R];
  load<R>(in, m, q, 2 * lanes, a);
  transform<R>(a, roots);
  if (m > 1)
#pragma GCC unroll 16
    for (int k = 1; k < R; ++k) a[k] = product<V, T>(a[k], w[2 * k - 2], w[2 * k - 1]);
  store<R>(out, q, scale, a);
}

template <int R, class T>
GRADUS_TARGET void stage_of(int64_t m, int64_t lanes, const T* twiddles, const T* roots,
                            const FftRows<const T>& in, const FftRows<T>& out, T scale) {
  constexpr int64_t kLanes = kNumbers<T>;
  for (int64_t p = 0; p < m; ++p) {
    const T* const w = twiddles + p * 2 * (R - 1);
    const FftRows<const T> from = in.moved(p * in.step);
    const FftRows<T> to = out.moved(p * R * out.step);
    int64_t q = 0;
    for (; q + kLanes <= lanes; q += kLanes)
      lanes_of<R, Numbers<T>>(m, lanes, q, w, roots, from, to, scale);
    for (; q < lanes; ++q) lanes_of<R, T>(m, lanes, q, w, roots, from, to, scale);
  }
}

template <class T>
void stage(int64_t radix, int64_t m, int64_t lanes, const T* twiddles, const T* roots,
           const FftRows<const T>& in, const FftRows<T>& out, T scale) {
  switch (radix) {
#define RADIX(r) \
  case r:        \
    return stage_of<r>(m, lanes, twiddles, roots, in, out, scale);
    RADIX(2)
    RADIX(3)
    RADIX(4)
    RADIX(5)
    RADIX(7)
    RADIX(8)
    RADIX(11)
    RADIX(13)
    RADIX(16)
#undef RADIX
    default:
      return;
  }
}

// Four complex numbers, as vectors of their parts in turn.
template <class T>
struct Four {
  typedef T Type __attribute__((vector_size(8 * sizeof(T))));
  typedef T InMemory __attribute__((vector_size(8 * sizeof(T)), aligned(sizeof(T)), may_alias));
  typedef T Reals __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <class V>
inline void exchange_parts(V& x) {
  x = __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
}
// Vectors become their transform. back: (1, -1) in turn, or (-1, 1) for the inverse.
template <class V>
inline void transform_fours(V (&a)[4], const V& back) {
  const V sum = a[0] + a[2], rest = a[0] - a[2], odd_sum = a[1] + a[3];
  V odd_rest = a[1] - a[3];
  exchange_parts(odd_rest);
  a[0] = sum + odd_sum, a[1] = rest + odd_rest * back;
  a[2] = sum - odd_sum, a[3] = rest - odd_rest * back;
}
template <class V>
inline void transpose_fours(V (&a)[4]) {
  V b[4];
#pragma GCC unroll 2
  for (int i = 0; i < 4; i += 2) {
    b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 1, 8, 9, 4, 5, 12, 13);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    a[i] = __builtin_shufflevector(b[i], b[i + 2], 0, 1, 2, 3, 8, 9, 10, 11);
    a[i + 2] = __builtin_shufflevector(b[i], b[i + 2], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

// A line is a square: its columns are transformed, multiplied by twiddles, then its rows. Columns
// of a real line have transforms whose rows 0 and 2 are real, and whose row 3 is row 1's conjugate.
template <bool kReal, class T>
GRADUS_TARGET void sixteen_of(int64_t lines, const T* const* in, T* const* out, const T* roots,
                              bool inverse, T scale) {
  using Reals = typename Four<T>::Reals;
  using V = typename Four<T>::Type;
  using InMemory = typename Four<T>::InMemory;
  const T way = inverse ? T(-1) : T(1);
  const V back = {way, -way, way, -way, way, -way, way, -way};
  V re[4], im[4];
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 4; ++j) {
      re[k][2 * j] = re[k][2 * j + 1] = roots[j * k] * scale;
      im[k][2 * j] = roots[16 + j * k] * way * scale, im[k][2 * j + 1] = -im[k][2 * j];
    }
  if constexpr (kReal)  // factors for row 2 from its real parts, and for row 3 from row 1
    for (int j = 1; j < 8; j += 2)
      re[2][j] = im[2][j], re[3][j] = -re[3][j], im[3][j - 1] = -im[3][j - 1];
  for (int64_t line = 0; line < lines; ++line) {
    V a[4];
    if constexpr (kReal) {
      const auto* const x = reinterpret_cast<const Reals*>(in[line]);
      const Reals sum = x[0] + x[2], odd_sum = x[1] + x[3], none{};
      const Reals rest = x[0] - x[2], odd_rest = (x[3] - x[1]) * way, middle = sum - odd_sum;
      a[0] = __builtin_shufflevector((sum + odd_sum) * scale, none, 0, 4, 1, 4, 2, 4, 3, 4);
      a[1] = __builtin_shufflevector(rest, odd_rest, 0, 4, 1, 5, 2, 6, 3, 7);
      V exchanged = a[1];
      exchange_parts(exchanged);
      a[3] = a[1] * re[3] + exchanged * im[3];
      a[1] = a[1] * re[1] + exchanged * im[1];
      a[2] = __builtin_shufflevector(middle, middle, 0, 0, 1, 1, 2, 2, 3, 3) * re[2];
    } else {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) a[j] = *reinterpret_cast<const InMemory*>(in[line] + 8 * j);
      transform_fours(a, back);
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        V exchanged = a[k];
        exchange_parts(exchanged);
        a[k] = a[k] * re[k] + exchanged * im[k];
      }
    }
    transpose_fours(a);
    transform_fours(a, back);
    InMemory* const to = reinterpret_cast<InMemory*>(out[line]);
    to[0] = a[0], to[1] = a[1];
    if constexpr (kReal)
      out[line][16] = a[2][0], out[line][17] = a[2][1];
    else
      to[2] = a[2], to[3] = a[3];
  }
}
template <class T>
void sixteen(int64_t lines, bool real, const T* const* in, T* const* out, const T* roots,
             bool inverse, T scale) {
  real ? sixteen_of<true>(lines, in, out, roots, inverse, scale)
       : sixteen_of<false>(lines, in, out, roots, inverse, scale);
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
  static constexpr FftLoops loops = {
      cpu::GRADUS_SET::stage<T>,
      8 * sizeof(T) <= GRADUS_VECTOR ? cpu::GRADUS_SET::sixteen<T> : nullptr,
      cpu::GRADUS_SET::multiply<T>, cpu::GRADUS_SET::ends<T>};
  return loops;
}
template const FftLoops<float>& FftLoops<float>::GRADUS_SET();
template const FftLoops<double>& FftLoops<double>::GRADUS_SET();

}  // namespace gradus::cpu
