// sin, cos and tan.
#pragma once

#include <cmath>

#include "gradus/tensor/math/pair.h"

namespace gradus::math {
inline namespace GRADUS_VARIANT {

// Up to here arguments are reduced by a formula; std::sin and std::cos know how to go on.
template <class T>
inline constexpr T kTrigLimit = is_float<T> ? T(0x1p17) : T(0x1p15);

// pi / 2 in two parts.
template <class T>
inline constexpr Pair<T> kQuarterTurn = {
    is_float<T> ? T(0x1.921fb6p+0) : T(0x1.921fb54442d18p+0),
    is_float<T> ? T(-0x1.777a5cp-25) : T(0x1.1a62633145c07p-54)};

// An angle as quarter turns and r + tail, where |r| is at most pi / 4 or so.
template <class T>
struct Angle {
  Bits<T> quarters;
  T r, tail;
};

// x - n pi / 2, with pi / 2 in several parts.
template <class T>
GRADUS_HD Angle<T> reduce_angle(T x) {
  const T shifted = multiply_add(x, T(0x1.45f306dc9c883p-1), kRounder<T>);
  const T n = shifted - kRounder<T>;
  if constexpr (!is_float<T>) {  // products of n are exact, but for the last
    const T a = multiply_add(n, T(-0x1.921fb5444p+0), x), b = n * T(0x1.68c234c4cp-39);
    const T sum = a - b;
    const T c = multiply_add(n, T(0x1.98a2e03707345p-77), b - (a - sum));
    const T r = sum - c;
    return {bits_of(shifted), r, (sum - r) - c};
  } else if constexpr (kFused) {  // a is exact, and so is what b and r lack
    const float a = multiply_add(n, -0x1.921fb6p+0f, x), b = n * -0x1.777a5cp-25f, r = a - b;
    const float rest = ((a - r) - b) - multiply_add(n, -0x1.777a5cp-25f, -b);
    return {bits_of(shifted), r, multiply_add(n, 0x1.ee59dap-50f, rest)};
  } else {
    const double wide = static_cast<double>(n),
                 angle = (static_cast<double>(x) - wide * 0x1.921fb54p+0) -
                         wide * 0x1.10b4611a62633p-30;
    const float r = static_cast<float>(angle);
    return {bits_of(shifted), r, static_cast<float>(angle - static_cast<double>(r))};
  }
}

// (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 from z = r^2
template <class T>
GRADUS_HD T sin_series(T z) {
  if constexpr (is_float<T>)
    return polynomial(z, -0x1.555544p-3f, 0x1.1106d4p-7f, -0x1.9920c2p-13f);
  else
    return polynomial(z, -0x1.5555555555549p-3, 0x1.111111110f87ap-7, -0x1.a01a019c1198cp-13,
                      0x1.71de3577b61d3p-19, -0x1.ae5e663a31d0cp-26, 0x1.5d9300e1db559p-33);
}
template <class T>
GRADUS_HD T cos_series(T z) {
  if constexpr (is_float<T>)
    return polynomial(z, 0x1.55554ap-5f, -0x1.6c0bc4p-10f, 0x1.99cb82p-16f);
  else
    return polynomial(z, 0x1.555555555554cp-5, -0x1.6c16c16c1517ep-10, 0x1.a01a019cb1bd8p-16,
                      -0x1.27e4f809f0831p-22, 0x1.1ee9ebe91b3acp-29, -0x1.8fae9c6e14ed0p-37);
}

// sin of so many quarter turns and r + tail, with another sign where `sign` has one; a cosine
// begins one quarter later.
template <class T>
GRADUS_HD T sin_of(const Angle<T>& angle, Bits<T> quarters, Bits<T> sign) {
  const T r = angle.r, z = r * r, w = multiply_add(z, T(-0.5), T(1));
  const T sine = r + multiply_add(r * z, sin_series(z), angle.tail * w);
  const T rest = multiply_add(-r, angle.tail, multiply_add(z, T(-0.5), 1 - w));
  const T cosine = w + multiply_add(z * z, cos_series(z), rest);
  const Bits<T> quadrant = angle.quarters + quarters;
  const Bits<T> turned = (quadrant << (8 * sizeof(T) - 2)) ^ sign;
  return from_bits<T>(bits_of(quadrant & 1 ? cosine : sine) ^ (turned & kSign<T>));
}

// sin(r) / cos(r), or the other way round and with another sign, and then what the quotient lacks.
template <class T>
GRADUS_HD T tan_of(const Angle<T>& angle) {
  const T r = angle.r, z = r * r, w = multiply_add(z, T(-0.5), T(1));
  const auto sine = exact_sum(r, multiply_add(r * z, sin_series(z), angle.tail * w));
  const T rest = multiply_add(-r, angle.tail, multiply_add(z, T(-0.5), 1 - w));
  const auto cosine = exact_sum(w, multiply_add(z * z, cos_series(z), rest));
  const bool odd = angle.quarters & 1;
  const T above = odd ? -cosine.high : sine.high, above_low = odd ? -cosine.low : sine.low;
  const T below = odd ? sine.high : cosine.high, below_low = odd ? sine.low : cosine.low;
  const T reciprocal = 1 / below, quotient = above * reciprocal;
  const auto [product, low] = exact_product(quotient, below);
  const T lack = ((above - product) - low) + multiply_add(-quotient, below_low, above_low);
  return multiply_add(lack, reciprocal, quotient);
}

template <class T>
inline constexpr Range<T> kTrigRange = {0, kTrigLimit<T>, true};
template <class T>
inline constexpr Range<T> kHalfTurnRange = {0, kTrigLimit<T> / 4, true};  // before times pi
template <class T>
GRADUS_HD Near<T> sin(Near<T> x) {
  return Near<T>(sin_of<T>(reduce_angle(without_sign(x.value)), 0, bits_of(x.value)));
}
template <class T>
GRADUS_HD Near<T> cos(Near<T> x) {
  return Near<T>(sin_of<T>(reduce_angle(x.value), 1, 0));
}
template <class T>
GRADUS_HD Near<T> tan(Near<T> x) {
  const T y = tan_of<T>(reduce_angle(without_sign(x.value)));
  return Near<T>(from_bits<T>(bits_of(y) ^ (bits_of(x.value) & kSign<T>)));
}

template <Real T>
GRADUS_HD T sin(T x) {
  return without_sign(x) > kTrigLimit<T> ? std::sin(x) : sin(Near<T>(x)).value;
}
template <Real T>
GRADUS_HD T cos(T x) {
  return without_sign(x) > kTrigLimit<T> ? std::cos(x) : cos(Near<T>(x)).value;
}
template <Real T>
GRADUS_HD T tan(T x) {
  return without_sign(x) > kTrigLimit<T> ? static_cast<T>(std::tan(static_cast<double>(x)))
                                         : tan(Near<T>(x)).value;
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
