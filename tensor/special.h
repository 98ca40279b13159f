// Special functions that <cmath> lacks, for host and device, in the type of their argument. Errors
// are stated in units in the last place (ulp) of it; tests/tensor/special_test.cpp holds them.
#pragma once

#include "gradus/tensor/scalar_functions.h"

namespace gradus::scalar::inline GRADUS_VARIANT {

template <class T>
GRADUS_HD T sin_over(T x) {
  const T angle = x * T(3.141592653589793);
  return angle == 0 ? T(1) : std::sin(angle) / angle;
}

// log |gamma(x)|.
template <class T>
GRADUS_HD T log_gamma(T x) {
#ifdef __CUDA_ARCH__
  return std::lgamma(x);
#else
  int sign;  // std::lgamma leaves it in a global variable, for which threads would race
  if constexpr (std::is_same_v<T, float>)
    return ::lgammaf_r(x, &sign);
  else
    return ::lgamma_r(x, &sign);
#endif
}

// The y for which erf(y) = x: Winitzki's estimate ("A handy approximation for the error function
// and its inverse", 2008), and Halley's steps from there. Within 4 ulp.
template <class T>
GRADUS_HD T inverse_erf(T x) {
  const T size = magnitude(x), rest = 1 - size;
  if (!(rest > 0)) return rest == 0 ? std::copysign(greatest<T>(), x) : nan_value<T>;
  constexpr T a = T(0.147), pi = T(3.141592653589793), slope_at_0 = T(1.1283791670955126);
  const T log = std::log1p(-size * size), half = 2 / (pi * a) + log / 2;
  T y = std::sqrt(std::sqrt(half * half - log / a) - half);
  // The estimate is within 0.4%, and a step cubes the error. Close to 1 what erf leaves of 1 has
  // the digits.
  for (int step = 0; step < 3; ++step) {
    const T missing = size < T(0.5) ? size - std::erf(y) : std::erfc(y) - rest;
    const T newton = missing / (slope_at_0 * std::exp(-y * y));
    y += newton / (1 - y * newton);
  }
  return std::copysign(y, x);
}

// The derivative of log_gamma: its asymptotic series (Abramowitz and Stegun, 6.3.18) from where
// it has all digits, the recurrence (6.3.5) up to there, and reflection (6.3.7) below 0. Within 8
// ulp of the larger of |psi(x)|, 1 and, below 0, |pi / tan(pi x)|.
template <class T>
GRADUS_HD T digamma_of(T x) {
  if (x == 0) return std::copysign(greatest<T>(), -x);
  T sum = 0;
  if (x < 0) {
    constexpr T pi = T(3.141592653589793);
    const T from_pole = x - std::nearbyint(x);
    if (from_pole == 0) return nan_value<T>;
    sum = -pi / std::tan(pi * from_pole);
    x = 1 - x;
  }
  constexpr T far = std::is_same_v<T, float> ? 4 : 10;
  for (; x < far; ++x) sum -= 1 / x;
  const T z = 1 / (x * x);
  // B(2k) / 2k for k = 1 to 7, of alternating sign.
  const T series =
      z *
      (T(1. / 12) -
       z * (T(1. / 120) -
            z * (T(1. / 252) -
                 z * (T(1. / 240) - z * (T(1. / 132) - z * (T(691. / 32760) - z * T(1. / 12)))))));
  return std::log(x) + sum - (1 / (2 * x) + series);
}

// x to the power -n, n >= 0.
template <class T>
GRADUS_HD T inverse_power(T x, int n) {
  T result = 1;
  for (T base = 1 / x; n > 0; n >>= 1, base *= base)
    if (n & 1) result *= base;
  return result;
}

// The sum of (q + k)^-s over all k >= 0, for s > 1 and q > 0: its first terms, and Euler and
// Maclaurin's formula for the rest.
template <class T>
GRADUS_HD T hurwitz_zeta(int s, T q) {
  const T order = static_cast<T>(s);
  T sum = 0;
  for (; q < 10 + 2 * order; ++q) {
    const T term = inverse_power(q, s);
    sum += term;
    if (term <= sum * epsilon_value<T>) return sum;
  }
  const T integral = inverse_power(q, s - 1), term = integral / q;
  sum += integral / (order - 1) + term / 2;
  // B(2k) / (2k)! for k = 1 to 8.
  constexpr T coefficients[] = {T(1. / 12),          T(-1. / 720),
                                T(1. / 30240),       T(-1. / 1209600),
                                T(1. / 47900160),    T(-691. / 1307674368000),
                                T(1. / 74724249600), T(-3617. / 10670622842880000)};
  T derivative = term * order / q, next = order + 1;
  for (const T coefficient : coefficients) {
    sum += coefficient * derivative;
    derivative *= next / q * ((next + 1) / q);
    next += 2;
  }
  return sum;
}

// The n-th derivative of digamma: -(-1)^n n! hurwitz_zeta(n + 1, x); below 0 the sum over all
// integers is taken apart into sums over positive numbers. NaN for negative n.
template <class T>
GRADUS_HD T polygamma_of(T x, T n) {
  n = std::nearbyint(n);
  if (n == 0) return digamma_of(x);
  if (!(n > 0 && n < T(1 << 30))) return nan_value<T>;
  const int s = static_cast<int>(n) + 1;
  const T sign = s % 2 == 0 ? 1 : -1;
  T zeta;
  if (x > 0 || x != x) {
    zeta = hurwitz_zeta(s, x);
  } else {
    const T from_pole = x - std::nearbyint(x);
    if (from_pole == 0) return sign * greatest<T>();
    const T above = from_pole > 0 ? from_pole : 1 + from_pole;  // the integer below x
    const T below = from_pole > 0 ? 1 - from_pole : -from_pole;
    zeta = hurwitz_zeta(s, above) + sign * (hurwitz_zeta(s, below) - hurwitz_zeta(s, 1 - x));
  }
  return sign * std::tgamma(n + 1) * zeta;
}

// The modified Bessel function of the first kind I_n, n = 0 or 1: its power series (Abramowitz and
// Stegun, 9.6.10), whose terms have one sign, below 20, and from there its asymptotic one (9.7.1),
// whose terms shrink to below an epsilon. Within 16 ulp; NaN at infinity, as PyTorch's.
template <int n, class T>
GRADUS_HD T bessel_i(T x) {
  const T a = magnitude(x);
  T term = 1, sum = 1;
  if (a < 20) {
    const T square = a * a / 4;
    for (T k = 1; term > sum * epsilon_value<T> / 2; ++k) {
      term *= square / (k * (k + n));
      sum += term;
    }
    if (n == 1) sum *= a / 2;
  } else {
    for (T k = 1; magnitude(term) > epsilon_value<T> / 2; ++k) {
      term *= ((2 * k - 1) * (2 * k - 1) - 4 * n * n) / (8 * a * k);
      sum += term;
    }
    // e^a would overflow before its product with the rest does.
    sum *= std::exp(a / 2) / std::sqrt(T(6.283185307179586) * a) * std::exp(a / 2);
  }
  return n == 0 ? sum : std::copysign(sum, x);
}

}  // namespace gradus::scalar::inline GRADUS_VARIANT
