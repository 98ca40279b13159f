// The gamma function's relatives, for host and device, in the type of their argument.
#pragma once

#include "gradus/tensor/math/scalar_functions.h"

namespace gradus::scalar {
inline namespace GRADUS_VARIANT {

// log |gamma(x)|.
template <class T>
GRADUS_HD_LONG T log_gamma(T x) {
#ifdef __CUDA_ARCH__
  return std::lgamma(x);
#else
  int sign;  // std::lgamma leaves it in a global variable, for which threads would race
  if constexpr (std::is_same_v<T, float> && math::kFused)
    return math::lgamma(x);
  else if constexpr (std::is_same_v<T, float>)
    return ::lgammaf_r(x, &sign);
  else
    return ::lgamma_r(x, &sign);
#endif
}

// The derivative of log_gamma: its asymptotic series (Abramowitz and Stegun, 6.3.18) from where it
// has all digits, the recurrence (6.3.5) up to there, and reflection (6.3.7) below 0. The error is
// within 8 ulp of the larger of |psi(x)|, 1 and, below 0, |pi / tan(pi x)|.
template <class T>
GRADUS_HD_LONG T digamma_of(T x) {
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

// x to the power -n, n >= 0; by products where n is whole.
template <class T>
GRADUS_HD T inverse_power(T x, T n) {
  if (!(n < T(1 << 30)) || n != std::floor(n)) return std::pow(x, -n);
  T result = 1, base = 1 / x;
  for (int left = static_cast<int>(n); left > 0; left >>= 1, base *= base)
    if (left & 1) result *= base;
  return result;
}

// The sum of (q + k)^-s over all k >= 0, for s > 1 and q > 0: its first terms, and Euler and
// Maclaurin's formula for the rest.
template <class T>
GRADUS_HD_LONG T sum_of_powers(T s, T q) {
  T sum = 0;
  for (; q < 10 + 2 * s; ++q) {
    const T term = inverse_power(q, s);
    sum += term;
    if (term <= sum * epsilon_value<T>) return sum;
  }
  const T integral = inverse_power(q, s - 1), term = integral / q;
  sum += integral / (s - 1) + term / 2;
  // B(2k) / (2k)! for k = 1 to 8.
  constexpr T coefficients[] = {T(1. / 12),          T(-1. / 720),
                                T(1. / 30240),       T(-1. / 1209600),
                                T(1. / 47900160),    T(-691. / 1307674368000),
                                T(1. / 74724249600), T(-3617. / 10670622842880000)};
  T derivative = term * s / q, next = s + 1;
  for (const T coefficient : coefficients) {
    sum += coefficient * derivative;
    derivative *= next / q * ((next + 1) / q);
    next += 2;
  }
  return sum;
}

// The Hurwitz zeta function: sum_of_powers, continued to q < 0 for whole s, where the sum over all
// integers is taken apart into sums over positive numbers. Infinite at its poles. The error is
// within 16 ulp; below 0, where these sums cancel, within 16 ulp of the largest term.
template <class T>
GRADUS_HD_LONG T hurwitz_zeta(T s, T q) {
  if (s == 1) return greatest<T>();
  if (s < 1) return nan_value<T>;
  if (q > 0 || q != q || s != s) return sum_of_powers(s, q);
  const T from_pole = q - std::nearbyint(q);
  if (from_pole == 0) return greatest<T>();
  if (from_pole != from_pole || s != std::floor(s)) return nan_value<T>;
  const T sign = s / 2 == std::floor(s / 2) ? 1 : -1;
  const T above = from_pole > 0 ? from_pole : 1 + from_pole;  // the integer below q
  const T below = from_pole > 0 ? 1 - from_pole : -from_pole;
  return sum_of_powers(s, above) + sign * (sum_of_powers(s, below) - sum_of_powers(s, 1 - q));
}

// The n-th derivative of digamma: -(-1)^n n! hurwitz_zeta(n + 1, x). NaN for negative n.
template <class T>
GRADUS_HD_LONG T polygamma_of(T x, T n) {
  n = std::nearbyint(n);
  if (n == 0) return digamma_of(x);
  if (!(n > 0 && n < T(1 << 30))) return nan_value<T>;
  const T sign = n / 2 == std::floor(n / 2) ? -1 : 1;
  return sign * std::tgamma(n + 1) * hurwitz_zeta(n + 1, x);
}

// log(1 + d) - d, d > -1, without a loss of digits near 0.
GRADUS_HD inline double log1p_beyond_linear(double d) {
  if (magnitude(d) > 0.1) return std::log1p(d) - d;
  double sum = 0, power = d;
  for (int k = 2; k <= 18; ++k) {
    power *= -d;
    sum += power / k;
  }
  return sum;
}

// x^a e^-x / gamma(a + 1), a > 0 and x > 0: for large a by Stirling's series (Abramowitz and
// Stegun, 6.1.41), in which the large powers cancel.
GRADUS_HD inline double gamma_term(double a, double x) {
  if (a < 10) return x > 2000 ? 0 : std::pow(x, a) * std::exp(-x) / std::tgamma(a + 1);
  const double z = 1 / (a * a);
  const double stirling =
      (1. / 12 -
       z * (1. / 360 - z * (1. / 1260 - z * (1. / 1680 - z * (1. / 1188 - z * 691. / 360360))))) /
      a;
  return std::exp(a * log1p_beyond_linear((x - a) / a) - stirling) /
         std::sqrt(6.283185307179586 * a);
}

// Temme's uniform expansion of the shares below (DLMF 8.12) for a > 10^6 and x near a, with the
// coefficients' own series about x = a.
GRADUS_HD inline double gamma_share_of_large(double a, double x, bool upper) {
  const double distance = (x - a) / a, square = -2 * log1p_beyond_linear(distance);
  const double eta = std::copysign(std::sqrt(square), distance);
  const double c0 = -1. / 3 + eta * (1. / 12 - eta * (2. / 135 - eta * (1. / 864 + eta / 2835)));
  const double c1 = -1. / 540 - eta / 288;
  const double rest = std::exp(-a * square / 2) / std::sqrt(6.283185307179586 * a) * (c0 + c1 / a);
  const double half = std::erfc((upper ? eta : -eta) * std::sqrt(a / 2)) / 2;
  return upper ? half + rest : half - rest;
}

// The share of the integral of t^(a - 1) e^-t over t > 0 that lies below x, or above it. Below a +
// 1 it is the power series (Abramowitz and Stegun, 6.5.29), else the continued fraction (6.5.31) by
// Lentz's method. Computed in double from up to thousands of terms. The error is within 128 (1 +
// |log p|) ulp of the computed share p, and within as many ulp of 1 for the other share.
template <class T>
GRADUS_HD_LONG T gamma_share(T shape, T bound, bool upper) {
  const double a = static_cast<double>(shape), x = static_cast<double>(bound);
  constexpr double infinity = greatest_value<double>;
  if (a < 0 || x < 0 || (a == 0 && !(x > 0)) || (a == infinity && x == infinity))
    return nan_value<T>;
  if (a == infinity || x == 0) return upper ? 1 : 0;  // as PyTorch's, also beside NaN
  if (a == 0 || x == infinity) return upper ? 0 : 1;
  if (a != a || x != x) return nan_value<T>;
  if (a > 1e6 && magnitude(x - a) < 0.1 * a)
    return static_cast<T>(gamma_share_of_large(a, x, upper));
  const double factor = gamma_term(a, x);
  constexpr double kEpsilon = 1e-17;
  if (x < a + 1) {
    double sum = 1, term = 1;
    for (double k = 1; term > sum * kEpsilon; ++k) {
      term *= x / (a + k);
      sum += term;
    }
    return static_cast<T>(upper ? 1 - factor * sum : factor * sum);
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d, change = 0;
  // Rounding leaves the changes within two epsilon of 1.
  for (double k = 1; magnitude(change - 1) > 1e-15; ++k) {
    const double numerator = k * (a - k);
    b += 2;
    d = 1 / (b + numerator * d);
    c = b + numerator / c;
    change = c * d;
    fraction *= change;
  }
  const double above = factor * a * fraction;
  return static_cast<T>(upper ? above : 1 - above);
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::scalar
