// Complex numbers for the host and GPUs, and the functions of them that rows of elementwise.def
// call. asin, acos and their kin are Kahan's ("Branch cuts for complex elementary functions",
// 1987): the sign of a 0 says on which side of the cut a number lies.
#pragma once

#include "gradus/tensor/math/scalar_functions.h"

namespace gradus::scalar {
inline namespace GRADUS_VARIANT {

// The bits of a std::complex<T>, with operators that device code may call.
template <class T>
struct ComplexNumber {
  T re = 0, im = 0;

  ComplexNumber() = default;
  GRADUS_HD constexpr ComplexNumber(T real, T imag = 0) : re(real), im(imag) {}  // NOLINT: implicit

  GRADUS_HD constexpr ComplexNumber operator-() const { return {-re, -im}; }
  // i times this, and -i times.
  GRADUS_HD constexpr ComplexNumber turned() const { return {-im, re}; }
  GRADUS_HD constexpr ComplexNumber turned_back() const { return {im, -re}; }

  // A real operand is one of these by the constructor.
  GRADUS_HD friend constexpr ComplexNumber operator+(ComplexNumber a, ComplexNumber b) {
    return {a.re + b.re, a.im + b.im};
  }
  GRADUS_HD friend constexpr ComplexNumber operator-(ComplexNumber a, ComplexNumber b) {
    return {a.re - b.re, a.im - b.im};
  }
  GRADUS_HD friend constexpr ComplexNumber operator*(ComplexNumber a, ComplexNumber b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  // By the quotient of the divisor's parts, which does not overflow (Smith, 1962).
  GRADUS_HD friend constexpr ComplexNumber operator/(ComplexNumber a, ComplexNumber b) {
    const T across = b.re < 0 ? -b.re : b.re, up = b.im < 0 ? -b.im : b.im;
    if (across == 0 && up == 0) return {a.re / across, a.im / up};
    if (across - across != 0 && up - up != 0 && across == across && up == up)
      return {a.re / across, a.im / up};  // both infinite: 0, of finite numbers
    if (across >= up) {
      const T part = b.im / b.re, scale = 1 / (b.re + b.im * part);
      return {(a.re + a.im * part) * scale, (a.im - a.re * part) * scale};
    }
    const T part = b.re / b.im, scale = 1 / (b.re * part + b.im);
    return {(a.re * part + a.im) * scale, (a.im * part - a.re) * scale};
  }
  GRADUS_HD friend constexpr bool operator==(ComplexNumber a, ComplexNumber b) {
    return a.re == b.re && a.im == b.im;
  }
  GRADUS_HD friend constexpr bool operator!=(ComplexNumber a, ComplexNumber b) { return !(a == b); }
};

template <class T>
GRADUS_HD bool is_finite(T x) {
  return x - x == 0;
}
template <class T>
GRADUS_HD bool is_finite(ComplexNumber<T> x) {
  return is_finite(x.re) && is_finite(x.im);
}
// A product with a real number: an infinite part leaves the other one alone.
template <class T>
GRADUS_HD ComplexNumber<T> scaled(ComplexNumber<T> x, T by) {
  return {x.re * by, x.im * by};
}

// C99's Annex G gives the limits of the functions below. A function first computes what holds for
// most numbers. Where that is not finite, it looks closer: at infinite parts, and at numbers whose
// intermediate results overflow.

// e^size (cos(angle) + i sin(angle)) of half that size twice.
template <class T>
GRADUS_HD ComplexNumber<T> from_halves(T size, T angle) {
  const T half = exp(size / 2);
  return {half * cos(angle) * half, half * sin(angle) * half};
}
template <class T>
GRADUS_HD ComplexNumber<T> exp(ComplexNumber<T> x) {
  const T size = exp(x.re);
  if (x.im == 0) return {size, x.im};
  const ComplexNumber<T> out{size * cos(x.im), size * sin(x.im)};
  if (is_finite(out)) return out;
  if (is_finite(x.re) || x.re != x.re || is_finite(x.im)) return from_halves(x.re, x.im);
  return x.re < 0 ? ComplexNumber<T>{T(0), std::copysign(T(0), x.im)}
                  : ComplexNumber<T>{x.re, x.im - x.im};
}

// log|x|: close to 1 the digits are in |x|^2 - 1.
template <class T>
GRADUS_HD T log_magnitude(ComplexNumber<T> x) {
  const T a = std::fabs(x.re), b = std::fabs(x.im), most = a > b ? a : b, least = a > b ? b : a;
  if (most > T(0.5) && most < T(2)) return log1p((most - 1) * (most + 1) + least * least) / 2;
  constexpr T up = T(1LL << 52);  // where digits of small numbers are lost, or the sum overflows
  if (most > 0 && most * up < 1) return log(hypot(a * up, b * up)) - T(36.04365338911715);
  if (is_finite(most) && most / up > 1) return log(hypot(a / up, b / up)) + T(36.04365338911715);
  return log(hypot(a, b));
}
template <class T>
GRADUS_HD ComplexNumber<T> log(ComplexNumber<T> x) {
  return {log_magnitude(x), atan2(x.im, x.re)};
}
template <class T>
GRADUS_HD ComplexNumber<T> log1p(ComplexNumber<T> x) {
  if (std::fabs(x.re) > T(0.5) || std::fabs(x.im) > T(0.5))
    return log(ComplexNumber<T>{1 + x.re, x.im});
  return {log1p(x.re * (2 + x.re) + x.im * x.im) / 2, atan2(x.im, 1 + x.re)};
}
template <class T>
GRADUS_HD ComplexNumber<T> log2(ComplexNumber<T> x) {
  return scaled(log(x), T(1.4426950408889634));
}
template <class T>
GRADUS_HD ComplexNumber<T> log10(ComplexNumber<T> x) {
  return scaled(log(x), T(0.4342944819032518));
}
template <class T>
GRADUS_HD ComplexNumber<T> exp2(ComplexNumber<T> x) {
  return exp(scaled(x, T(0.6931471805599453)));
}
template <class T>
GRADUS_HD ComplexNumber<T> expm1(ComplexNumber<T> x) {
  if (x.im == 0) return {expm1(x.re), x.im};
  const T half = sin(x.im / 2);
  const ComplexNumber<T> out{expm1(x.re) * cos(x.im) - 2 * half * half, exp(x.re) * sin(x.im)};
  return is_finite(out) ? out : exp(x) - 1;
}

// Halves, whose sum does not overflow.
template <class T>
GRADUS_HD ComplexNumber<T> sqrt(ComplexNumber<T> x) {
  if (x.re == 0 && x.im == 0) return {T(0), x.im};
  if (std::fabs(x.im) - std::fabs(x.im) != 0 && x.im == x.im) return {std::fabs(x.im), x.im};
  if (!is_finite(x.re) && x.re == x.re) {
    const T size = std::fabs(x.re), rest = std::fabs(x.im - x.im);
    return x.re > 0 ? ComplexNumber<T>{size, std::copysign(rest, x.im)}
                    : ComplexNumber<T>{rest, std::copysign(size, x.im)};
  }
  const T root = std::sqrt(std::fabs(x.re) / 2 + hypot(x.re / 2, x.im / 2));
  if (root == 0) return scaled(sqrt(scaled(x, T(1LL << 52))), T(1) / (1 << 26));  // subnormal
  if (!is_finite(root) && is_finite(x)) return scaled(sqrt(scaled(x, T(0.25))), T(2));
  const T other = std::fabs(x.im) / (2 * root);
  if (x.re >= 0) return {root, std::copysign(other, x.im)};
  return {other, std::copysign(root, x.im)};
}

template <class T>
GRADUS_HD ComplexNumber<T> sinh(ComplexNumber<T> x) {
  if (x.im == 0) return {sinh(x.re), x.im};
  const ComplexNumber<T> out{sinh(x.re) * cos(x.im), cosh(x.re) * sin(x.im)};
  if (is_finite(out)) return out;
  if (x.re == 0 || !is_finite(x.im))
    return {is_finite(x.re) && x.re != 0 ? x.im - x.im : x.re, x.im - x.im};
  const ComplexNumber<T> half = scaled(from_halves(std::fabs(x.re), x.im), T(0.5));
  return {x.re < 0 ? -half.re : half.re, half.im};
}
template <class T>
GRADUS_HD ComplexNumber<T> cosh(ComplexNumber<T> x) {
  if (x.im == 0) return {cosh(x.re), std::copysign(T(1), x.re) < 0 ? -x.im : x.im};
  if (x.re == 0) return {cos(x.im), is_finite(x.im) ? x.re * sin(x.im) : x.re};
  const ComplexNumber<T> out{cosh(x.re) * cos(x.im), sinh(x.re) * sin(x.im)};
  if (is_finite(out)) return out;
  if (!is_finite(x.im)) return {is_finite(x.re) ? x.im - x.im : x.re * x.re, x.im - x.im};
  const ComplexNumber<T> half = scaled(from_halves(std::fabs(x.re), x.im), T(0.5));
  return {half.re, x.re < 0 ? -half.im : half.im};
}
template <class T>
GRADUS_HD ComplexNumber<T> tanh(ComplexNumber<T> x) {
  if (x.im == 0) return {tanh(x.re), x.im};
  if (std::fabs(x.re) > 22) {  // 1, to the last digit of a double
    const T one = std::copysign(T(1), x.re);
    if (!is_finite(x.im) && !is_finite(x.re)) return {one, std::copysign(T(0), x.im)};
    return {is_finite(x.im) ? one : x.im - x.im,
            4 * sin(x.im) * cos(x.im) * exp(-2 * std::fabs(x.re))};
  }
  if (x.re == 0) return {x.re, tan(x.im)};
  const T t = tan(x.im), s = sinh(x.re), beta = 1 + t * t, scale = 1 + beta * s * s;
  return {beta * std::sqrt(1 + s * s) * s / scale, t / scale};
}
template <class T>
GRADUS_HD ComplexNumber<T> sin(ComplexNumber<T> x) {
  return sinh(x.turned()).turned_back();
}
template <class T>
GRADUS_HD ComplexNumber<T> cos(ComplexNumber<T> x) {
  return cosh(x.turned());
}
template <class T>
GRADUS_HD ComplexNumber<T> tan(ComplexNumber<T> x) {
  return tanh(x.turned()).turned_back();
}

// The imaginary parts of conj(a) b: without those of the real operands, whose zeros keep a sign.
template <class T>
GRADUS_HD T cross(ComplexNumber<T> a, ComplexNumber<T> b) {
  return a.re * b.im - a.im * b.re;
}
// 1 - x and 1 + x with the zero of x.im.
template <class T>
GRADUS_HD ComplexNumber<T> from_1(ComplexNumber<T> x) {
  return {1 - x.re, -x.im};
}
template <class T>
GRADUS_HD ComplexNumber<T> beyond_1(ComplexNumber<T> x) {
  return {1 + x.re, x.im};
}
template <class T>
GRADUS_HD ComplexNumber<T> asin(ComplexNumber<T> x) {
  if (!is_finite(x))
    return {x.re == 0 ? x.re : atan2(x.re, std::fabs(x.im)),
            std::copysign(hypot(x.re, x.im), x.im)};
  const ComplexNumber<T> low = sqrt(from_1(x)), high = sqrt(beyond_1(x));
  return {atan2(x.re, low.re * high.re - low.im * high.im), asinh(cross(low, high))};
}
template <class T>
GRADUS_HD ComplexNumber<T> acos(ComplexNumber<T> x) {
  if (!is_finite(x))
    return {x.re == 0 ? T(1.5707963267948966) : atan2(std::fabs(x.im), x.re),
            std::copysign(hypot(x.re, x.im), -x.im)};
  const ComplexNumber<T> low = sqrt(from_1(x)), high = sqrt(beyond_1(x));
  return {2 * atan2(low.re, high.re), asinh(cross(high, low))};
}
template <class T>
GRADUS_HD ComplexNumber<T> acosh(ComplexNumber<T> x) {
  if (!is_finite(x))
    return {hypot(x.re, x.im),
            x.re == 0 && x.im != x.im ? T(1.5707963267948966) : atan2(x.im, x.re)};
  const ComplexNumber<T> low = sqrt(ComplexNumber<T>{x.re - 1, x.im}), high = sqrt(beyond_1(x));
  return {asinh(low.re * high.re + low.im * high.im), 2 * atan2(low.im, high.re)};
}
template <class T>
GRADUS_HD ComplexNumber<T> asinh(ComplexNumber<T> x) {
  return asin(x.turned()).turned_back();
}
template <class T>
GRADUS_HD ComplexNumber<T> atanh(ComplexNumber<T> x) {
  const T re = std::fabs(x.re), im = std::fabs(x.im), most = re > im || re != re ? re : im;
  if (!(most < T(1e17))) {  // 1 / x, and a quarter turn
    const T half = hypot(re / 2, im / 2), quarter = std::copysign(T(1.5707963267948966), x.im);
    const T real = re == 0 ? re : is_finite(half) ? re / half / half / 4 : half == half ? 0 : half;
    return {std::copysign(real, x.re), half != half ? half : im != im ? im : quarter};
  }
  const T below = 1 - re, square = below * below + x.im * x.im;
  const T size = square < T(1e-30) ? (T(0.6931471805599453) - log(hypot(below, im))) / 2
                                   : log1p(4 * re / square) / 4;
  return {std::copysign(size, x.re), atan2(2 * x.im, below * (1 + re) - x.im * x.im) / 2};
}
template <class T>
GRADUS_HD ComplexNumber<T> atan(ComplexNumber<T> x) {
  return atanh(x.turned()).turned_back();
}

template <class T>
GRADUS_HD ComplexNumber<T> sin_over(ComplexNumber<T> x) {
  const ComplexNumber<T> angle = scaled(x, T(3.141592653589793));
  return angle == ComplexNumber<T>(0) ? ComplexNumber<T>(1) : sin(angle) / angle;
}
template <class T>
GRADUS_HD ComplexNumber<T> logistic(ComplexNumber<T> x) {
  return 1 / (1 + exp(-x));
}
template <class T>
GRADUS_HD ComplexNumber<T> power(ComplexNumber<T> x, ComplexNumber<T> y) {
  if (y == ComplexNumber<T>(0)) return T(1);
  if (x == ComplexNumber<T>(0) && y.re > 0) return T(0);
  return exp(y * log(x));
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::scalar
