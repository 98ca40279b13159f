// erf, and the normal distribution.
#pragma once

#include "gradus/tensor/math/exp.h"

namespace gradus::math {
inline namespace GRADUS_VARIANT {

// 2^-g, for g that are not so large that it is subnormal.
template <class T>
GRADUS_HD T negative_power_of_two(T g) {
  const T shifted = kRounder<T> - g;
  const T r = (kRounder<T> - shifted) - g;
  return from_bits<T>(bits_of(multiply_add(r, exp2_series(r), T(1))) +
                      (bits_of(shifted) << kFraction<T>));
}

// erf(x) / x - 1 from z = x^2, up to 1
template <class T>
GRADUS_HD T erf_series(T z) {
  if constexpr (is_float<T>)
    return polynomial(z, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2d2p-4f, -0x1.b7fbb4p-6f,
                      0x1.5419f6p-8f, -0x1.a485eep-11f, 0x1.4ae4d2p-14f);
  else
    return polynomial(z, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b34p-4,
                      -0x1.b82ce31284f37p-6, 0x1.565bcd0dbd8f1p-8, -0x1.c02db3db4904dp-11,
                      0x1.f9a321e4adf57p-14, -0x1.f4d1e43420759p-17, 0x1.b9df3056cc828p-20,
                      -0x1.5f1f40d77b41dp-23, 0x1.f7b99c8858233p-27, -0x1.38ac21168b321p-30,
                      0x1.062759503a50fp-34);
}

// x + x p(x^2) up to 1; beyond, 1 - 2^-g(x).
template <Real T>
GRADUS_HD T erf(T x) {
  constexpr T end = is_float<T> ? T(3.93) : T(5.95);  // from where on it rounds to 1
  const T size = without_sign(x), t = size > end ? end : size;
  const T p = erf_series(size * size);
  T g;
  if constexpr (is_float<T>)
    g = polynomial(t, 0x1.0b8d1ep-11f, 0x1.a03fe6p+0f, 0x1.d76e84p-1f, 0x1.30703p-3f,
                   -0x1.01b512p-5f, 0x1.15ef66p-8f, -0x1.18bb42p-12f);
  else
    g = polynomial(t, 0x1.8d818089a4202p-21, 0x1.a0be0696147dfp+0, 0x1.d6436eb9f0405p-1,
                   0x1.2f72c04b8462dp-3, -0x1.c0d29cc81af33p-6, -0x1.38c95e0f1f964p-11,
                   0x1.6add5e10f11a1p-9, -0x1.245b56a095259p-10, 0x1.9d2253dc4cedcp-13,
                   0x1.d8a27608abd3p-16, -0x1.10b77dc81de09p-15, 0x1.9f50223286e38p-17,
                   -0x1.9986047665a64p-19, 0x1.1e42ce8fe3ee7p-21, -0x1.1ca2c7586049ap-24,
                   0x1.81b02d91bcf87p-28, -0x1.4080f7ea2829p-32, 0x1.edf338129df81p-38);
  return with_sign_of(x, size >= 1 ? 1 - negative_power_of_two(g) : multiply_add(size, p, size));
}

// The share of a normal distribution below x. The error is within one ulp of 1. The result is 0
// where less than that is left.
template <Real T>
GRADUS_HD T normal_share(T x) {
  constexpr T end = is_float<T> ? T(5.6) : T(8.3);
  const T size = without_sign(x), t = size > end ? end : size;
  T g;
  if constexpr (is_float<T>)
    g = polynomial(t, 0x1p+0f, 0x1.26aedep+0f, 0x1.d639dp-2f, 0x1.ae1f06p-5f, -0x1.cfb2bap-8f,
                   0x1.31e9bcp-13f, 0x1.7ed45ap-13f, -0x1.43f948p-15f, 0x1.740eacp-19f);
  else
    g = polynomial(t, 0x1p+0, 0x1.26aec21bce723p+0, 0x1.d63ed74998264p-2, 0x1.ad6f35dd47f71p-5,
                   -0x1.c4242c87651b2p-8, -0x1.bf8dfade5ef05p-15, 0x1.40c0238bd6a08p-12,
                   -0x1.3ba9ba0d195eep-14, 0x1.3ba38ca6d01b7p-19, 0x1.11fd4bb1dc78bp-18,
                   -0x1.5e15c561e7472p-20, 0x1.3d7f95747c525p-24, 0x1.84c9bebda635bp-24,
                   -0x1.7adcbe40bbaafp-25, 0x1.9822c1be5a4dbp-27, -0x1.26067e75da690p-29,
                   0x1.0dcfe8affbcccp-32, -0x1.5ff1447a4a4fbp-37, -0x1.45d96901af2ffp-39,
                   0x1.3b79673af5672p-41, -0x1.1fe7a7bcc11acp-44, 0x1.3bbf40b8adc48p-48,
                   -0x1.901cada07743ap-53, 0x1.c62abe2912f7dp-59);
  const T tail = size < end ? negative_power_of_two(g) : T(0);
  return x != x ? x : x < 0 ? tail : 1 - tail;
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
