// sin and cos.
#pragma once

#include <cmath>

#include "gradus/tensor/math/bits.h"

namespace gradus::math::inline GRADUS_VARIANT {

// Up to here arguments are reduced by a formula; std::sin and std::cos know how to go on.
template <class T>
inline constexpr T kTrigLimit = is_float<T> ? T(0x1p24) : T(0x1p15);

// An angle as quarter turns and r + tail, where |r| is at most pi / 4.
struct Angle {
  uint64_t quarters;
  double r, tail;
};

// Products of pi / 2's parts with a count of quarter turns are exact, but for the last ones'.
template <class T>
GRADUS_HD Angle reduce_angle(double x) {
  const double shifted = multiply_add(x, 0x1.45f306dc9c883p-1, kRounder<double>);
  const double n = shifted - kRounder<double>;
  if constexpr (is_float<T>) {
    return {bits_of(shifted),
            multiply_add(n, -0x1.10b4611a62633p-30, multiply_add(n, -0x1.921fb54p+0, x)), 0};
  } else {
    const double a = multiply_add(n, -0x1.921fb5444p+0, x), b = n * 0x1.68c234c4cp-39;
    const double sum = a - b;
    const double c = multiply_add(n, 0x1.98a2e03707345p-77, b - (a - sum));
    const double r = sum - c;
    return {bits_of(shifted), r, (sum - r) - c};
  }
}

// (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 from z = r^2
template <class T>
GRADUS_HD double sin_series(double z) {
  if constexpr (is_float<T>)
    return polynomial(z, -0x1.55554596f22f0p-3, 0x1.11075f5582944p-7, -0x1.994e5b1d85922p-13);
  else
    return polynomial(z, -0x1.5555555555549p-3, 0x1.111111110f87ap-7, -0x1.a01a019c1198cp-13,
                      0x1.71de3577b61d3p-19, -0x1.ae5e663a31d0cp-26, 0x1.5d9300e1db559p-33);
}
template <class T>
GRADUS_HD double cos_series(double z) {
  if constexpr (is_float<T>)
    return polynomial(z, 0x1.55554ab26224ap-5, -0x1.6c0c8aae8f597p-10, 0x1.9a020a5ae5bfcp-16);
  else
    return polynomial(z, 0x1.555555555554cp-5, -0x1.6c16c16c1517ep-10, 0x1.a01a019cb1bd8p-16,
                      -0x1.27e4f809f0831p-22, 0x1.1ee9ebe91b3acp-29, -0x1.8fae9c6e14ed0p-37);
}

// sin of so many quarter turns and r + tail; a cosine begins one quarter later.
template <class T>
GRADUS_HD double sin_of(const Angle& angle, uint64_t quarters) {
  const double r = angle.r, z = r * r, half = 0.5 * z, w = 1 - half;
  double sine = sin_series<T>(z), cosine = cos_series<T>(z);
  if constexpr (is_float<T>) {
    sine = multiply_add(r * z, sine, r);
    cosine = multiply_add(z * z, cosine, w);
  } else {
    sine = r + multiply_add(r * z, sine, angle.tail * w);
    const double rest = multiply_add(-r, angle.tail, (1 - w) - half);
    cosine = w + multiply_add(z * z, cosine, rest);
  }
  const uint64_t quadrant = angle.quarters + quarters;
  return from_bits<double>(bits_of(quadrant & 1 ? cosine : sine) ^ (quadrant & 2) << 62);
}

// An angle within kTrigLimit, so that neither function needs a branch. A row of elementwise.def
// that is made of sin, cos and a sign works on it as on a number.
template <class T>
struct NearAngle {
  T value;
  GRADUS_HD explicit NearAngle(T x) : value(x) {}
};
template <class T>
GRADUS_HD NearAngle<T> operator-(NearAngle<T> x) {
  return NearAngle<T>(-x.value);
}
template <class T>
GRADUS_HD NearAngle<T> sin(NearAngle<T> x) {
  const T y = static_cast<T>(sin_of<T>(reduce_angle<T>(without_sign(x.value)), 0));
  return NearAngle<T>(from_bits<T>(bits_of(y) ^ (bits_of(x.value) & kSign<T>)));
}
template <class T>
GRADUS_HD NearAngle<T> cos(NearAngle<T> x) {
  return NearAngle<T>(static_cast<T>(sin_of<T>(reduce_angle<T>(x.value), 1)));
}

template <Real T>
GRADUS_HD T sin(T x) {
  return without_sign(x) > kTrigLimit<T> ? std::sin(x) : sin(NearAngle<T>(x)).value;
}
template <Real T>
GRADUS_HD T cos(T x) {
  return without_sign(x) > kTrigLimit<T> ? std::cos(x) : cos(NearAngle<T>(x)).value;
}

}  // namespace gradus::math::inline GRADUS_VARIANT
