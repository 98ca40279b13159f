// Bessel functions, for host and device, in the type of their argument.
#pragma once

#include "gradus/tensor/math/scalar_functions.h"

namespace gradus::scalar {
inline namespace GRADUS_VARIANT {

// The modified Bessel function of the first kind I_n, n = 0 or 1, times e^-|x| where `scaled`.
// Below 20 it is the power series (Abramowitz and Stegun, 9.6.10), whose terms have one sign. From
// 20 on it is the asymptotic one (9.7.1), whose terms shrink to below an epsilon. The error is
// within 16 ulp. I_n is NaN at infinity, as PyTorch's.
template <int n, bool scaled = false, class T>
GRADUS_HD_LONG T bessel_i(T x) {
  const T a = magnitude(x);
  T term = 1, sum = 1;
  if (a < 20) {
    const T square = a * a / 4;
    for (T k = 1; term > sum * epsilon_value<T> / 2; ++k) {
      term *= square / (k * (k + n));
      sum += term;
    }
    if (n == 1) sum *= a / 2;
    if (scaled) sum *= std::exp(-a);
  } else {
    for (T k = 1; magnitude(term) > epsilon_value<T> / 2; ++k) {
      term *= ((2 * k - 1) * (2 * k - 1) - 4 * n * n) / (8 * a * k);
      sum += term;
    }
    sum /= std::sqrt(T(6.283185307179586) * a);
    // e^a would overflow before its product with the rest does.
    if (!scaled) sum = sum * std::exp(a / 2) * std::exp(a / 2);
  }
  return n == 0 ? sum : std::copysign(sum, x);
}

// The Bessel functions of the first kind, J_n, and of the second kind, Y_n, n = 0 or 1: those of
// the C library and of CUDA in double. The error is within 8 ulp of the larger of the result and,
// beyond 1, of sqrt(2 / (pi x)), the amplitude of both. NaN at infinity, as PyTorch's.
template <int n, class T>
GRADUS_HD_LONG T bessel_j(T x) {
  const double wide = static_cast<double>(x);
  if (wide - wide != 0) return nan_value<T>;
  return static_cast<T>(n == 0 ? ::j0(wide) : ::j1(wide));
}
template <int n, class T>
GRADUS_HD_LONG T bessel_y(T x) {
  if (!(x > 0 && x - x == 0)) return x == 0 ? -greatest<T>() : nan_value<T>;
  const double wide = static_cast<double>(x);
  return static_cast<T>(n == 0 ? ::y0(wide) : ::y1(wide));
}

// The modified Bessel function of the second kind K_n, n = 0 or 1, times e^x where `scaled`. It is
// the integral of e^(-x (cosh t - 1)) cosh(n t) over t > 0 (Abramowitz and Stegun, 9.6.24). The
// relative error of the trapezoidal rule is e^(x - pi^2 / step) at most. For large x that means a
// small step; there it is e^(-2 pi^2 / (x step^2)) at most, as for a bell curve. Computed in
// double; the error is within 16 ulp.
template <int n, bool scaled, class T>
GRADUS_HD_LONG T bessel_k(T argument) {
  const double x = static_cast<double>(argument);
  if (!(x > 0)) return x == 0 ? greatest<T>() : nan_value<T>;
  if (x - x != 0) return 0;
  double integral;
  if (x < 1e-9) {  // the first terms of the series (9.6.11, 9.6.13)
    integral = (n == 0 ? -std::log(x / 2) - 0.5772156649015329 : 1 / x) * (1 + x);
  } else {
    const double step = x < 100 ? 9.869604401089358 / (x + 38) : 0.65 / std::sqrt(x);
    double sum = 0.5, term = 1;
    for (int k = 1; term > sum * 1e-17; ++k) {
      const double half = std::sinh(k * step / 2), rise = 2 * half * half;  // cosh(t) - 1
      term = std::exp(-x * rise) * (n == 0 ? 1 : 1 + rise);
      sum += term;
    }
    integral = sum * step;
  }
  return static_cast<T>(scaled ? integral : integral * std::exp(-x));
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::scalar
