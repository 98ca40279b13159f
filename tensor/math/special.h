// Special functions that <cmath> lacks, for host and device, in the type of their argument. Errors
// are stated in units in the last place (ulp) of it, here and in special_gamma.h and
// special_bessel.h; tests/tensor/special_test.cpp holds them.
#pragma once

#include "gradus/tensor/math/scalar_functions.h"
#include "gradus/tensor/math/special_bessel.h"
#include "gradus/tensor/math/special_gamma.h"

namespace gradus::scalar {
inline namespace GRADUS_VARIANT {

template <class T>
GRADUS_HD T sin_over(T x) {
  const T angle = x * T(3.141592653589793);
  return angle == 0 ? T(1) : sin(angle) / angle;
}
template <class T>
GRADUS_HD math::Near<T> sin_over(math::Near<T> x) {
  const T angle = x.value * T(3.141592653589793);
  return math::Near<T>(angle == 0 ? T(1) : math::sin(math::Near<T>(angle)).value / angle);
}

// The y >= 0 for which erf(y) = size and erfc(y) = rest, of which one has the digits: Winitzki's
// estimate ("A handy approximation for the error function and its inverse", 2008), and Halley's
// steps from there. The error is within 4 ulp. REQUIRES: 0 < rest <= 1.
template <class T>
GRADUS_HD T inverse_erf_of(T size, T rest) {
  constexpr T a = T(0.147), pi = T(3.141592653589793), slope_at_0 = T(1.1283791670955126);
  const T log = size < T(0.5) ? std::log1p(-size * size) : std::log(rest * (1 + size));
  const T half = 2 / (pi * a) + log / 2;
  T y = std::sqrt(std::sqrt(half * half - log / a) - half);
  // The estimate is within 0.4%, and a step cubes the error. Close to 1 what erf leaves of 1 has
  // the digits.
  for (int step = 0; step < 3; ++step) {
    const T missing = size < T(0.5) ? size - std::erf(y) : std::erfc(y) - rest;
    const T newton = missing / (slope_at_0 * std::exp(-y * y));
    y += newton / (1 - y * newton);
  }
  return y;
}

// The y for which erf(y) = x.
template <class T>
GRADUS_HD T inverse_erf(T x) {
#ifdef __CUDA_ARCH__
  return ::erfinv(x);
#else
  return math::erfinv(x);
#endif
}

// The x below which the share p of a normal distribution lies. The error is within 8 ulp where p is
// not denormal.
template <class T>
GRADUS_HD_LONG T normal_quantile(T p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -greatest<T>() : p == 1 ? greatest<T>() : nan_value<T>;
  const T tail = p < T(0.5) ? p : 1 - p;
  const T y = T(1.4142135623730951) * inverse_erf_of(1 - 2 * tail, 2 * tail);
  return p < T(0.5) ? -y : y;
}

// e^(x^2) erfc(x): the product, in which what x^2 loses by rounding is made good; from where erfc
// would underflow its asymptotic series (Abramowitz and Stegun, 7.1.23). The error is within 4 ulp.
template <class T>
GRADUS_HD_LONG T scaled_erfc(T x) {
  constexpr T far = std::is_same_v<T, float> ? 9 : 26;
  if (x < -far - 1) return greatest<T>();  // e^(x^2) overflows
  const T square = x * x;
  if (x > far) {
    const T z = 1 / (2 * square);
    const T series = 1 - z * (1 - 3 * z * (1 - 5 * z * (1 - 7 * z * (1 - 9 * z * (1 - 11 * z)))));
    return series / (x * T(1.7724538509055159));
  }
  const T power = std::exp(square), rest = std::fma(x, x, -square);
  return power * (1 + rest) * std::erfc(x);
}

// The logarithm of the share of a normal distribution below x. The error is within 4 ulp of the
// larger of the result and 1.
template <class T>
GRADUS_HD_LONG T log_normal_share(T x) {
  const T y = x * T(0.7071067811865476);
  return x < -1 ? std::log(scaled_erfc(-y) / 2) - x * x / 2 : std::log1p(-std::erfc(y) / 2);
}

// -x log(x), 0 at 0 and -infinity below.
template <class T>
GRADUS_HD T entropy_of(T x) {
  return x > 0 || x != x ? -x * std::log(x) : x == 0 ? T(0) : -greatest<T>();
}

// The m and e for which x = m 2^e and 0.5 <= |m| < 1; x and 0 for 0, infinities and NaN.
template <class T>
GRADUS_HD T mantissa_of(T x) {
  int exponent;
  return x - x != 0 ? x : std::frexp(x, &exponent);
}
template <class T>
GRADUS_HD T exponent_of(T x) {
  int exponent = 0;
  if (x - x == 0) std::frexp(x, &exponent);
  return static_cast<T>(exponent);
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::scalar
