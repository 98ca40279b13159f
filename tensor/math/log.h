// log, log2, log10 and log1p.
#pragma once

#include "gradus/tensor/math/exp.h"

namespace gradus::math {
inline namespace GRADUS_VARIANT {

// x = 2^k (1 + f), where 1 + f lies between sqrt(1/2) and sqrt(2).
template <class T>
struct Factors {
  T k, f;
};

// REQUIRES: x is positive and finite, and subnormal only where `subnormals`; any other x gives
// something.
template <bool subnormals, class T>
GRADUS_HD Factors<T> factors(T x) {
  constexpr Bits<T> root = bits_of(T(0.7071067811865476));
  constexpr T shift = kRounder<T> / T(1.5);  // 2^kFraction
  const bool small = subnormals && x < kLeastNormal<T>;
  const Bits<T> moved = bits_of(small ? x * shift : x) - root;
  T k;
  if constexpr (is_float<T>) {
    k = static_cast<float>(static_cast<int32_t>(moved) >> kFraction<T>);
  } else {  // without a conversion, which few processors have as a vector instruction
    k = from_bits<T>(bits_of(shift) | (moved + bits_of(T(1))) >> kFraction<T>) - (shift + kBias<T>);
  }
  if (small) k -= kFraction<T>;
  return {k, from_bits<T>((moved & ((Bits<T>{1} << kFraction<T>)-1)) + root) - 1};
}

// (log(1 + f) - f + f^2 / 2) / f^3
GRADUS_HD inline float log_series(float f) {
  return polynomial(f, 0x1.555548p-2f, -0x1.000006p-2f, 0x1.99a4b6p-3f, -0x1.555c4ep-3f,
                    0x1.23376ap-3f, -0x1.fc221p-4f, 0x1.e6f068p-4f, -0x1.de3be2p-4f,
                    0x1.14576cp-4f);
}

// log(1 + f) = f - f^2 / 2 + rest. double: log(1 + f) = 2 artanh(s), s = f / (2 + f), which is
// shorter there than a polynomial of f.
template <class T>
GRADUS_HD T log_rest(T f, T half_square) {
  if constexpr (is_float<T>) {
    return f * (f * f) * log_series(f);
  } else {
    const T s = f / (2 + f), z = s * s;
    const T r = polynomial(z, 0x1.5555555555593p-1, 0x1.999999997f8a8p-2, 0x1.249249423e492p-2,
                           0x1.c71c51c675643p-3, 0x1.74664d74e3dcep-3, 0x1.39a02f0dfdfe6p-3,
                           0x1.2f15ba2dccaf7p-3);
    return s * multiply_add(z, r, half_square);
  }
}

// y inside of the domain of a logarithm, and its value at the edges and outside.
template <class T>
GRADUS_HD T log_at_edges(T x, T y) {
  y = x < kInfinity<T> ? y : x;
  y = x == 0 ? -kInfinity<T> : y;
  return x < 0 ? kNan<T> : y;
}

template <class T>
GRADUS_HD T log_of(Factors<T> x) {
  const T square = x.f * x.f;
  if constexpr (is_float<T> && kFused) {  // the shortest way where products are exact in a sum
    const T rest = multiply_add(x.f, log_series(x.f), T(-0.5));
    return multiply_add(x.k, kLn2High<T>, x.f + multiply_add(square, rest, x.k * kLn2Low<T>));
  }
  const T half_square = T(0.5) * square;
  const T low = multiply_add(x.k, kLn2Low<T>, log_rest(x.f, half_square));
  return multiply_add(x.k, kLn2High<T>, x.f - (half_square - low));
}

template <Real T>
GRADUS_HD T log(T x) {
  return log_at_edges(x, log_of(factors<true>(x)));
}

// Neither subnormal nor infinite.
template <class T>
inline constexpr Range<T> kLogRange = {kLeastNormal<T>, std::numeric_limits<T>::max(), false};
template <class T>
GRADUS_HD Near<T> log(Near<T> x) {
  return Near<T>(log_of(factors<false>(x.value)));
}

// log(1 + x + low) + octaves log(2): log(u) + (1 + x - u + low) / u, where u is 1 + x rounded.
template <class T>
GRADUS_HD T log1p_of(T x, T low = 0, T octaves = 0) {
  const T u = 1 + x;
  const auto [k, f] = factors<false>(u);
  // Exact: the larger of 1 and x is taken from u first.
  const T lost = (x < 1 ? x - (u - 1) : 1 - (u - x)) + low;
  const T half_square = T(0.5) * (f * f);
  const T rest = log_rest(f, half_square) + multiply_add(k + octaves, kLn2Low<T>, lost / u);
  const T y = multiply_add(k + octaves, kLn2High<T>, f - (half_square - rest));
  return without_sign(x) < std::numeric_limits<T>::epsilon() / 4 ? x : log_at_edges(u, y);
}
template <Real T>
GRADUS_HD T log1p(T x) {
  return log1p_of(x);
}

// A constant in two parts. Products of the first with half of a number's bits, or with an exponent,
// are exact.
template <class T>
struct Constant {
  T high, low;
};

// log(x) * scale, where per_octave is log(2) * scale. The rounding error is added at the end.
template <class T>
GRADUS_HD T scaled_log(T x, Constant<T> scale, Constant<T> per_octave) {
  constexpr Bits<T> lower_half = (Bits<T>{1} << (kFraction<T> / 2 + 1)) - 1;
  const auto [k, f] = factors<true>(x);
  const T half_square = T(0.5) * (f * f);
  const T high = from_bits<T>(bits_of(f - half_square) & ~lower_half);
  const T low = ((f - high) - half_square) + log_rest(f, half_square);
  const T octaves = k * per_octave.high, top = high * scale.high, sum = octaves + top;
  const T lost = multiply_add(k, per_octave.low, (octaves - sum) + top);
  return log_at_edges(
      x, sum + multiply_add(low, scale.high, multiply_add(low + high, scale.low, lost)));
}

template <Real T>
GRADUS_HD T log2(T x) {
  if constexpr (is_float<T>)
    return scaled_log(x, {0x1.714p+0f, 0x1.47652cp-12f}, {1.0f, 0.0f});
  else
    return scaled_log(x, {0x1.715476p+0, 0x1.4ae0bf85ddf44p-26}, {1.0, 0.0});
}

template <Real T>
GRADUS_HD T log10(T x) {
  if constexpr (is_float<T>)
    return scaled_log(x, {0x1.bccp-2f, -0x1.09d5b2p-15f}, {0x1.344p-2f, 0x1.3509f8p-18f});
  else
    return scaled_log(x, {0x1.bcb7b1p-2, 0x1.49b9438ca9aaep-28},
                      {0x1.34413509f6p-2, 0x1.9fef311f12b36p-42});
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
