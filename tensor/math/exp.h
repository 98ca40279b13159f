// exp, expm1, exp2 and what is made of them.
#pragma once

#include "gradus/tensor/math/pair.h"

namespace gradus::math {
inline namespace GRADUS_VARIANT {

// ln 2 in two parts; the first times an exponent is exact.
template <class T>
inline constexpr T kLn2High = is_float<T> ? T(0x1.62e4p-1) : T(0x1.62e42fefa3800p-1);
template <class T>
inline constexpr T kLn2Low = is_float<T> ? T(0x1.7f7d1cf79abcap-20) : T(0x1.ef35793c76730p-45);

// Stands for 2^k * e^(r + tail), where |r| is at most ln 2 / 2 and tail is what r lacks.
template <class T>
struct Power {
  Bits<T> k;  // in two's complement; its upper bits are undefined
  T r, tail;
};

template <class T>
GRADUS_HD Power<T> power_of_two(T x) {
  const T shifted = multiply_add(x, T(1.4426950408889634), kRounder<T>), k = shifted - kRounder<T>;
  const T high = multiply_add(k, -kLn2High<T>, x), r = multiply_add(k, -kLn2Low<T>, high);
  return {bits_of(shifted), r, multiply_add(k, -kLn2Low<T>, high - r)};
}

// (e^r - 1 - r) / r^2, so well that e^r - 1 has 31 and 60 bits.
template <class T>
GRADUS_HD T exp_series(T r) {
  if constexpr (is_float<T>)
    return polynomial(r, 0x1p-1f, 0x1.555556p-3f, 0x1.5554aep-5f, 0x1.11109p-7f, 0x1.6d7528p-10f,
                      0x1.a1a21ap-13f);
  else
    return polynomial(r, 0x1p-1, 0x1.5555555555559p-3, 0x1.555555555555ap-5, 0x1.111111110f67ep-7,
                      0x1.6c16c16c14416p-10, 0x1.a01a01affb234p-13, 0x1.a01a01b0c9ba4p-16,
                      0x1.71ddf81671ac3p-19, 0x1.27e4c57830c04p-22, 0x1.af5f32f27d69ap-26,
                      0x1.1f95a304c220cp-29);
}

// x * 2^k for k as in Power, in two steps, since 2^k itself may not be a number.
template <class T>
GRADUS_HD T scale(T x, Bits<T> k) {
  const Bits<T> biased = k + 2 * kBias<T>, half = biased >> 1;
  return x * from_bits<T>(half << kFraction<T>) * from_bits<T>((biased - half) << kFraction<T>);
}

// Where x * 2^k is a normal number, as x is.
template <class T>
GRADUS_HD T scale_near(T x, Bits<T> k) {
  return from_bits<T>(bits_of(x) + (k << kFraction<T>));
}

// e^x is 0 or infinity beyond these. NaN stays.
template <class T>
GRADUS_HD T above_zero_of_exp(T x) {
  constexpr T low = is_float<T> ? T(-104) : T(-746);
  return x < low ? low : x;
}
template <class T>
GRADUS_HD T below_infinity_of_exp(T x) {
  constexpr T high = is_float<T> ? T(89) : T(710);
  return x > high ? high : x;
}

// The coefficients of r^2 to r^6 in e^r, in float.
inline constexpr float kExp2 = 0x1.fffffcp-2f, kExp3 = 0x1.555492p-3f, kExp4 = 0x1.5558f2p-5f,
                       kExp5 = 0x1.123a2p-7f, kExp6 = 0x1.6a23cep-10f;

// e^r. The longer way loses less where products are rounded.
template <class T>
GRADUS_HD T exp_near_zero(T r) {
  T series;
  if constexpr (is_float<T>)
    series = polynomial(r, kExp2, kExp3, kExp4, kExp5, kExp6);
  else
    series = polynomial(r, 0x1.000000000000ap-1, 0x1.55555555554f9p-3, 0x1.555555555083fp-5,
                        0x1.1111111127d09p-7, 0x1.6c16c18438a93p-10, 0x1.a01a012a113a4p-13,
                        0x1.a01999e27346ep-16, 0x1.71df25ae3ea3ap-19, 0x1.28ad9b79f7275p-22,
                        0x1.ad7f46dfbf8f1p-26);
  return kFused ? polynomial(r, T(1), T(1), series) : 1 + (r + r * r * series);
}

template <Real T>
GRADUS_HD T exp(T x) {
  const Power<T> p = power_of_two(below_infinity_of_exp(above_zero_of_exp(x)));
  return scale(exp_near_zero(p.r), p.k);
}

// e^x with the same bits, in fewer steps. REQUIRES: x is not positive; NaN stays.
template <Real T>
GRADUS_HD T exp_below_one(T x) {
  constexpr int lift = is_float<T> ? 64 : 600;  // what is subnormal becomes so in the last step
  constexpr T drop = from_bits<T>(Bits<T>(kBias<T> - lift) << kFraction<T>);
  const Power<T> p = power_of_two(above_zero_of_exp(x));
  return exp_near_zero(p.r) * from_bits<T>((p.k + (kBias<T> + lift)) << kFraction<T>) * drop;
}

// Neither subnormal nor infinite.
template <class T>
inline constexpr Range<T> kExpRange = {0, is_float<T> ? T(87) : T(708), true};
template <class T>
GRADUS_HD Near<T> exp(Near<T> x) {
  const Power<T> p = power_of_two(x.value);
  return Near<T>(scale_near(exp_near_zero(p.r), p.k));
}

// (2^r - 1) / r for |r| <= 1/2
template <class T>
GRADUS_HD T exp2_series(T r) {
  if constexpr (is_float<T>)
    return polynomial(r, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6aecep-5f, 0x1.3b29a8p-7f,
                      0x1.5f4896p-10f, 0x1.44908ap-13f);
  else
    return polynomial(r, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a5p-3, 0x1.c6b08d704a0d7p-5,
                      0x1.3b2ab6fb9feb1p-7, 0x1.5d87fe78a0d8ep-10, 0x1.4309130f52ea3p-13,
                      0x1.ffcbfc7c78028p-17, 0x1.62bfc66e1ab00p-20, 0x1.b524cd843cc0cp-24,
                      0x1.e61d54a174b31p-28, 0x1.ea18e10c08b47p-32);
}

template <Real T>
GRADUS_HD T exp2(T x) {
  constexpr T low = is_float<T> ? T(-151) : T(-1076), high = is_float<T> ? T(128) : T(1024);
  x = x < low ? low : x;
  x = x > high ? high : x;  // NaN stays
  const T shifted = x + kRounder<T>, r = x - (shifted - kRounder<T>);
  return scale(multiply_add(r, exp2_series(r), T(1)), bits_of(shifted));
}

// e^x - 1 = 2 (h (e^r - 1) + h - 1/2), where h = 2^(k-1) does not overflow early.
template <class T>
GRADUS_HD Pair<T> expm1_pair(T x) {
  const Power<T> p = power_of_two(x);
  const T h = from_bits<T>((p.k + (kBias<T> - 1)) << kFraction<T>);
  const T whole = h - T(0.5), part = h * p.r;
  const T sum = whole + part;
  const T lost = (h - (whole + T(0.5))) + (part - (sum - whole));
  const T rest = multiply_add(h, multiply_add(p.r * p.r, exp_series(p.r), p.tail), lost);
  const T high = sum + rest;
  return {2 * high, 2 * ((sum - high) + rest)};
}

template <Real T>
GRADUS_HD T expm1(T x) {
  constexpr T low = is_float<T> ? T(-20) : T(-40);
  const T y = expm1_pair(below_infinity_of_exp(x < low ? low : x)).high;
  return without_sign(x) < std::numeric_limits<T>::epsilon() / 4 ? x : y;
}

// An estimate of 1 / x for x in [1, 2], to 4%: good enough for a correction.
template <class T>
GRADUS_HD T rough_reciprocal(T x) {
  return multiply_add(x, T(-0.5), T(1.457));
}

// e^(2 x) for x in [3/4, 10], as well as tanh needs it: the rounding of ln 2 does not count.
GRADUS_HD inline float tanh_power(float x) {
  const float shifted = multiply_add(x, 0x1.715476p+1f, kRounder<float>);
  const float r = multiply_add(shifted - kRounder<float>, -0x1.62e43p-2f, x);
  const float scale = from_bits<float>((bits_of(shifted) + kBias<float>) << kFraction<float>);
  return exp_near_zero(2 * r) * scale;
}

// float: x + x p(x^2) where that is short, and 1 - 2 / (e^2x + 1) from where on it is exact enough.
// NaN goes the first way. double, with e = e^(-2 |x|) - 1: -e / (2 + e), and then the corrections
// for the roundings of e and 2 + e.
template <Real T>
GRADUS_HD T tanh(T x) {
  const T size = without_sign(x);
  if constexpr (is_float<T>) {
    const float z = size * size;
    const float series = polynomial(z, -0x1.55554ap-2f, 0x1.110db8p-3f, -0x1.b97d3cp-5f,
                                    0x1.5f785ap-6f, -0x1.f5d36ep-8f, 0x1.c753cap-10f);
    constexpr Bits<float> end = bits_of(10.0f);
    const Bits<float> bits = bits_of(size);  // compared in place of floats: one instruction less
    const float y = 1 - 2 / (tanh_power(from_bits<float>(bits < end ? bits : end)) + 1);
    return with_sign_of(x, size >= 0.75f ? y : multiply_add(size * z, series, size));
  } else {
    const Pair<T> e = expm1_pair(-2 * (size > T(20) ? T(20) : size));
    const T d = 2 + e.high, lost = (e.high - (d - 2)) + e.low;
    const T q = -e.high / d;
    const T y = multiply_add(-multiply_add(q, lost, e.low), rough_reciprocal(d), q);
    return with_sign_of(x, size < std::numeric_limits<T>::epsilon() / 4 ? size : y);
  }
}

// 1 / (1 + e^-x), by way of e = e^-|x|, which does not overflow; corrected as tanh is. `power` is
// that of e^-|x|, and `scaled` multiplies by 2^k.
template <class T, class Scale>
GRADUS_HD T logistic_of(T x, const Power<T>& power, const Scale& scaled) {
  const T growth = multiply_add(power.r * power.r, exp_series(power.r), power.r), sum = 1 + growth;
  const T e = scaled(sum, power.k), low = (1 - sum) + growth;
  const T d = 1 + e, lost = e - (d - 1);
  // Masks choose the numerator: a choice of two quotients would be two divisions.
  const Bits<T> negative = sign_mask(x);
  const T q = from_bits<T>((bits_of(e) & negative) | (bits_of(T(1)) & ~negative)) / d;
  return multiply_add(-q, (lost - from_bits<T>(bits_of(low) & negative)) * rough_reciprocal(d), q);
}

// The same from e = e^-x, where fused products find what 1 + e is rounded by. float needs no
// division, which would take as long as all of this. It estimates 1 / (1 + e) from its bits, and
// twice raises the error to its third power.
template <class T>
GRADUS_HD T logistic_of_power(T e) {
  const T d = 1 + e;
  T close;
  if constexpr (is_float<T>) {
    const T rough = from_bits<T>(0x7EF311C7u - bits_of(d)), far = multiply_add(-d, rough, T(1));
    close = multiply_add(rough, multiply_add(far, far, far), rough);
  } else {
    close = 1 / d;
  }
  const T lack = multiply_add(-e, close, T(1)) - close;  // of 1 + e as it is, not rounded
  return multiply_add(close, is_float<T> ? multiply_add(lack, lack, lack) : lack, close);
}

template <class T>
GRADUS_HD Near<T> logistic(Near<T> x) {
  if constexpr (kFused)
    return Near<T>(logistic_of_power(exp(-x).value));
  else
    return Near<T>(logistic_of(x.value, power_of_two(-without_sign(x.value)), scale_near<T>));
}
template <Real T>
GRADUS_HD T logistic(T x) {
  if constexpr (kFused) {
    constexpr T end = kExpRange<T>.most;
    const T inside = x < -end ? -end : x > end ? end : x;
    const T y = x < -end ? exp(x) : logistic(Near<T>(inside)).value;
    return x != x ? x : y;
  } else {
    return logistic_of(x, power_of_two(above_zero_of_exp(-without_sign(x))), scale<T>);
  }
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
