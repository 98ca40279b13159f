// x to the power y.
#pragma once

#include <cmath>

#include "gradus/tensor/math/log.h"
#include "gradus/tensor/math/pair.h"

namespace gradus::math {
inline namespace GRADUS_VARIANT {

// A logarithm to base 2 times y, of numbers that are positive and finite: in double for floats,
// otherwise with what it lacks. log(1 + f) = 2 artanh(s), s = f / (2 + f).
GRADUS_HD inline double log2_times(float x, float y) {
  const auto [k, f] = factors<false>(static_cast<double>(x));
  const double s = f / (2 + f);
  const double series = polynomial(s * s, 0x1.71547652bede5p+1, 0x1.ec709d12e15e9p-1,
                                   0x1.27777fd9ec3dbp-1, 0x1.a58d90091d0c3p-2, 0x1.5ce7c833961fp-2);
  return multiply_add(s, series, k) * static_cast<double>(y);
}
GRADUS_HD inline Pair<double> log2_times(double x, double y) {
  constexpr Pair<double> third = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
  constexpr Pair<double> scale = {0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};  // 2 / log(2)
  const auto [k, f] = factors<true>(x);
  const double d = 2 + f, reciprocal = 1 / d, quotient = f * reciprocal;
  const Pair<double> back = exact_product(quotient, d);
  const double rest = ((f - back.high) - back.low) - quotient * (f - (d - 2));
  const Pair<double> s = {quotient, rest * reciprocal};
  const Pair<double> z = s * s;
  const double series =
      polynomial(z.high, 0x1.9999999999996p-3, 0x1.2492492492f51p-3, 0x1.c71c71c595fbap-4,
                 0x1.745d1829f1564p-4, 0x1.3b13648aad784p-4, 0x1.11207b77de787p-4,
                 0x1.de3b16f1dc1d9p-5, 0x1.eadc3cf1b099ep-5);
  const Pair<double> log = (s + s * (z * (third + z.high * series))) * scale;
  return (k + log) * y;
}

// 2^x is 0 or infinity beyond in any case. NaN stays.
GRADUS_HD inline double within_powers(double x) {
  x = x < -160 ? -160 : x;
  return x > 130 ? 130 : x;
}
GRADUS_HD inline Pair<double> within_powers(Pair<double> x) {
  const double low = x.high < -1080 ? -1080 : x.high, high = low > 1030 ? 1030 : low;
  return {high, high == x.high ? x.low : 0};
}

// 2^x of such numbers.
GRADUS_HD inline float power_of_two_of(double x) {
  const double shifted = x + kRounder<double>, r = x - (shifted - kRounder<double>);
  const double y = polynomial(r, 0x1.00000002612ccp+0, 0x1.62e430c7f02eep-1, 0x1.ebfbdadcddccfp-3,
                              0x1.c6aed4b1e34e6p-5, 0x1.3b2dbba432416p-7, 0x1.5f456d87d15e7p-10,
                              0x1.41d34639b03a3p-13);
  return static_cast<float>(scale_near(y, bits_of(shifted)));
}
GRADUS_HD inline double power_of_two_of(Pair<double> x) {
  const double shifted = x.high + kRounder<double>;
  const double r = (x.high - (shifted - kRounder<double>)) + x.low;
  return scale(multiply_add(r, exp2_series(r), 1.0), bits_of(shifted));
}

// How far x is from an integer: 0, or at most 1/2.
template <class T>
GRADUS_HD T distance_from_whole(T x) {
  constexpr T shift = kRounder<T> / T(1.5);  // 2^kFraction, from where on all numbers are whole
  constexpr Bits<T> most = bits_of(shift);
  const Bits<T> bits = bits_of(without_sign(x));  // compared in place of numbers, without a branch
  const T size = from_bits<T>(bits < most ? bits : most);
  return without_sign(((size + shift) - shift) - size);
}

// Gives the result of the C library, also where an operand is 0, infinite or NaN. Where products
// are not exact in a sum that one is faster.
template <Real T>
GRADUS_HD T pow(T x, T y) {
  if constexpr (!kFused) return std::pow(x, y);
  constexpr T far = is_float<T> ? T(0x1p40) : T(0x1p80);  // makes 0 or infinity of all but 1
  const T size = without_sign(x), up_to = y > far ? far : y;
  T z = power_of_two_of(within_powers(log2_times(size, up_to < -far ? -far : up_to)));
  const T toward = size > 1 ? y : -y;
  z = size == 0 || size == kInfinity<T> ? (toward > 0 ? kInfinity<T> : T(0)) : z;
  const T lowest = size < kInfinity<T> ? T(0) : -kInfinity<T>;
  const T of_fraction = distance_from_whole(y) > 0 ? kNan<T> : z;
  z = x < lowest ? of_fraction : z;
  const bool odd = distance_from_whole(T(0.5) * y) == T(0.5);
  z = odd ? from_bits<T>(bits_of(z) ^ (bits_of(x) & kSign<T>)) : z;
  z = x != x || y != y ? x + y : z;
  z = y == 0 ? T(1) : z;
  return x == 1 ? T(1) : z;
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
