// sinh, cosh, asinh, acosh and atanh.
#pragma once

#include <cmath>

#include "gradus/tensor/math/log.h"

namespace gradus::math {
inline namespace GRADUS_VARIANT {

// 2 (grown (1 + r + ...) +- shrunk (1 - r + ...)) is e^x +- e^-x, halved.
template <class T>
struct Powers {
  T grown, shrunk;  // 2^(k - 2) and 2^(-k - 2)
  T sine, cosine;   // sinh(r) and cosh(r) - 1
};

// REQUIRES: x is not negative.
template <class T>
GRADUS_HD Powers<T> powers_of(T x) {
  constexpr T far = is_float<T> ? T(40) : T(80);       // 2^-far does not count any more
  constexpr T end = is_float<T> ? T(89.5) : T(710.5);  // from where on both are infinite
  const auto [bits, r, tail] = power_of_two(x > end ? end : x);
  const T k = from_bits<T>(bits) - kRounder<T>, down = kRounder<T> - (k > far ? far : k);
  const T z = r * r;
  T sine, cosine;
  if constexpr (is_float<T>) {
    sine = polynomial(z, 0x1.5554a2p-3f, 0x1.12331p-7f);
    cosine = polynomial(z, 0x1p-1f, 0x1.5554dcp-5f, 0x1.6d5ccap-10f);
  } else {
    sine = polynomial(z, 0x1.555555555555ap-3, 0x1.111111110f062p-7, 0x1.a01a01b2a8869p-13,
                      0x1.71ddf0d0d867dp-19, 0x1.af6ca32ecea2p-26);
    cosine = polynomial(z, 0x1p-1, 0x1.5555555555559p-5, 0x1.6c16c16c147d2p-10,
                        0x1.a01a01b0535b8p-16, 0x1.27e4c597647b8p-22, 0x1.1f965a5bf4eb8p-29);
  }
  return {from_bits<T>((bits + (kBias<T> - 2)) << kFraction<T>),
          from_bits<T>((bits_of(down) + (kBias<T> - 2)) << kFraction<T>),
          r + multiply_add(r * z, sine, tail), z * cosine};
}

template <Real T>
GRADUS_HD T cosh(T x) {
  const auto [grown, shrunk, sine, cosine] = powers_of(without_sign(x));
  const T sum = grown + shrunk, lost = (grown - sum) + shrunk;
  return 2 * (sum + multiply_add(grown - shrunk, sine, multiply_add(sum, cosine, lost)));
}

// x + x^3 p(x^2) up to 1.
template <Real T>
GRADUS_HD T sinh(T x) {
  const T size = without_sign(x), z = size * size;
  T series;
  if constexpr (is_float<T>)
    series = polynomial(z, 0x1.555556p-3f, 0x1.1110e2p-7f, 0x1.a02156p-13f, 0x1.75a6f4p-19f);
  else
    series = polynomial(z, 0x1.5555555555556p-3, 0x1.111111111102p-7, 0x1.a01a01a0369edp-13,
                        0x1.71de3a3bb5c9p-19, 0x1.ae646f34d127p-26, 0x1.6117532767bb2p-33,
                        0x1.b5a656c15c721p-41);
  const auto [grown, shrunk, sine, cosine] = powers_of(size);
  const T difference = grown - shrunk, lost = (grown - difference) - shrunk;
  const T rest = multiply_add(grown + shrunk, sine, multiply_add(difference, cosine, lost));
  return with_sign_of(x, size > 1 ? 2 * (difference + rest) : multiply_add(size * z, series, size));
}

// (artanh(s) - s) / s^3 from z = s^2, for |s| up to 1/3
template <class T>
GRADUS_HD T artanh_series(T z) {
  if constexpr (is_float<T>)
    return polynomial(z, 0x1.555558p-2f, 0x1.9996d8p-3f, 0x1.25051p-3f, 0x1.b72bb6p-4f,
                      0x1.f08b0cp-4f);
  else
    return polynomial(z, 0x1.5555555555556p-2, 0x1.9999999999656p-3, 0x1.24924924ba50fp-3,
                      0x1.c71c71a9ab643p-4, 0x1.745d1d711e79cp-4, 0x1.3b12e3b185e79p-4,
                      0x1.11226b4b19837p-4, 0x1.dff41b5f051e3p-5, 0x1.c0fffa13df5c9p-5,
                      0x1.2012698f87a43p-5, 0x1.5001115c7c326p-4);
}

// (1 + x) / (1 - x) = 2^k (1 + s) / (1 - s), 0 <= s < 1/3; where k is 0, s is x itself.
template <Real T>
GRADUS_HD T atanh(T x) {
  const T size = without_sign(x), above = 1 + size, below = 1 - size;
  const T above_lost = (1 - above) + size, below_lost = (1 - below) - size;
  const Bits<T> octaves = (bits_of(above) - bits_of(below)) >> kFraction<T>;
  const T power = from_bits<T>((octaves + kBias<T>) << kFraction<T>);
  const T k = from_bits<T>(bits_of(kRounder<T>) + octaves) - kRounder<T>;
  const T top = (above - power * below) + multiply_add(-power, below_lost, above_lost);
  const T s = k == 0 ? size : top / multiply_add(power, below, above);
  const T z = s * s, low = multiply_add(k, T(0.5) * kLn2Low<T>, s * z * artanh_series(z));
  const auto [sum, lost] = exact_sum(k * (T(0.5) * kLn2High<T>), s);
  const T y = sum + (lost + low);
  const T at_most_1 = size < 1 ? y : kInfinity<T>;
  return with_sign_of(x, size <= 1 ? at_most_1 : kNan<T>);
}

// log(x + sqrt(x^2 + 1)): of floats in double. Where squares would overflow, log(2 x).
template <Real T>
GRADUS_HD T asinh(T x) {
  constexpr double far = is_float<T> ? 0x1p128 : 0x1p500;
  const double size = static_cast<double>(without_sign(x)), square = size * size;
  const double grown = size < far ? square / (1 + std::sqrt(1 + square)) : 0;
  double y;
  if constexpr (is_float<T>) {
    y = log1p(size + grown);
  } else {
    const auto [sum, lost] = exact_sum(size > grown ? size : grown, size > grown ? grown : size);
    y = log1p_of(sum, lost, size < far ? 0.0 : 1.0);
  }
  return with_sign_of(x, static_cast<T>(y));
}

// log(x + sqrt((x - 1) (x + 1))), by way of x - 1; far away log(2 x).
template <Real T>
GRADUS_HD T acosh(T x) {
  constexpr double far = is_float<T> ? 0x1p128 : 0x1p500;
  const double wide = static_cast<double>(x), capped = wide < far ? wide : 1;
  const double less = capped - 1, more = capped + 1;
  double y;
  if constexpr (is_float<T>) {
    y = log1p(wide < far ? less + std::sqrt(less * more) : wide);
  } else {
    const auto [square, low] = exact_product(less, more);
    const double root = std::sqrt(square);
    const auto [back, back_low] = exact_product(root, root);
    const double rest = multiply_add(less, 1 - (more - capped), ((square - back) - back_low) + low);
    const auto [sum, lost] = exact_sum(root, less);
    const double lack = root > 0 ? lost + rest / (2 * root) : 0.0;
    y = log1p_of(wide < far ? sum : wide, lack, wide < far ? 0.0 : 1.0);
  }
  return static_cast<T>(x < 1 ? -kNan<double> : y);  // the C library's, which prints as "-nan"
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
