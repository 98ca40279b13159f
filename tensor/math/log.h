// log, log2, log10 and log1p.
#pragma once

#include "gradus/tensor/math/exp.h"

namespace gradus::math {

// x = 2^k (1 + f), where 1 + f lies between sqrt(1/2) and sqrt(2).
template <class T>
struct Factors {
  T k, f;
};

// REQUIRES: x is positive and finite; any other x gives something.
template <class T>
GRADUS_HD Factors<T> factors(T x) {
  constexpr Bits<T> root = bits_of(T(0.7071067811865476)), one = bits_of(T(1));
  constexpr T shift = kRounder<T> / T(1.5);  // 2^kFraction
  const bool small = x < std::numeric_limits<T>::min();
  const Bits<T> moved = bits_of(small ? x * shift : x) + (one - root);
  const T k = from_bits<T>(bits_of(shift) | moved >> kFraction<T>) -
              (small ? shift + (kBias<T> + kFraction<T>) : shift + kBias<T>);
  return {k, from_bits<T>((moved & ((Bits<T>{1} << kFraction<T>)-1)) + root) - 1};
}

// log(1 + f) = f - f^2 / 2 + rest, by way of log(1 + f) = 2 artanh(s), s = f / (2 + f).
template <class T>
GRADUS_HD T log_rest(T f, T half_square) {
  const T s = f / (2 + f), z = s * s;
  T r;
  if constexpr (is_float<T>)
    r = polynomial(z, 0x1.55557ap-1f, 0x1.995e7cp-2f, 0x1.31eap-2f);
  else
    r = polynomial(z, 0x1.5555555555593p-1, 0x1.999999997f8a8p-2, 0x1.249249423e492p-2,
                   0x1.c71c51c675643p-3, 0x1.74664d74e3dcep-3, 0x1.39a02f0dfdfe6p-3,
                   0x1.2f15ba2dccaf7p-3);
  return s * (half_square + z * r);
}

// What a logarithm gives outside of its domain, and y inside.
template <class T>
GRADUS_HD T log_at_edges(T x, T y) {
  y = x < std::numeric_limits<T>::infinity() ? y : x;
  y = x == 0 ? -std::numeric_limits<T>::infinity() : y;
  return x < 0 ? std::numeric_limits<T>::quiet_NaN() : y;
}

template <Real T>
GRADUS_HD T log(T x) {
  const auto [k, f] = factors(x);
  const T half_square = T(0.5) * f * f;
  const T low = log_rest(f, half_square) + k * kLn2Low<T>;
  return log_at_edges(x, k * kLn2High<T> - ((half_square - low) - f));
}

// log(u) + (1 + x - u) / u, where u is 1 + x rounded.
template <Real T>
GRADUS_HD T log1p(T x) {
  const T u = 1 + x;
  const auto [k, f] = factors(u);
  // The larger of 1 and x is what u - it is exact for.
  const T lost = x < 1 ? x - (u - 1) : 1 - (u - x);
  const T half_square = T(0.5) * f * f;
  const T low = log_rest(f, half_square) + (k * kLn2Low<T> + lost / u);
  const T y = k * kLn2High<T> - ((half_square - low) - f);
  return without_sign(x) < std::numeric_limits<T>::epsilon() / 4 ? x : log_at_edges(u, y);
}

// log(x) * c + k * c2, where log2 and log10 keep what rounding loses.
template <Real T>
GRADUS_HD T log2(T x) {
  const auto [k, f] = factors(x);
  const T half_square = T(0.5) * f * f;
  const T exact = f - half_square;
  const T high = from_bits<T>(bits_of(exact) & ~((Bits<T>{1} << (kFraction<T> / 2 + 1)) - 1));
  const T low = ((f - high) - half_square) + log_rest(f, half_square);
  constexpr T c_high = is_float<T> ? T(0x1.714p+0) : T(0x1.715476p+0);
  constexpr T c_low = is_float<T> ? T(1.4426950408889634 - 0x1.714p+0) : T(0x1.4ae0bf85ddf44p-26);
  const T top = high * c_high;
  const T sum = k + top;
  const T rest = (k - sum) + top;
  return log_at_edges(x, sum + (rest + ((low + high) * c_low + low * c_high)));
}

template <Real T>
GRADUS_HD T log10(T x) {
  const auto [k, f] = factors(x);
  const T half_square = T(0.5) * f * f;
  const T exact = f - half_square;
  const T high = from_bits<T>(bits_of(exact) & ~((Bits<T>{1} << (kFraction<T> / 2 + 1)) - 1));
  const T low = ((f - high) - half_square) + log_rest(f, half_square);
  // 1 / ln 10 and log10(2), each in two parts.
  constexpr T c_high = is_float<T> ? T(0x1.bccp-2) : T(0x1.bcb7b1p-2);
  constexpr T c_low = is_float<T> ? T(0.4342944819032518 - 0x1.bccp-2) : T(0x1.49b9438ca9aaep-28);
  constexpr T d_high = is_float<T> ? T(0x1.344p-2) : T(0x1.34413509f6p-2);
  constexpr T d_low = is_float<T> ? T(0.3010299956639812 - 0x1.344p-2) : T(0x1.9fef311f12b36p-42);
  const T top = high * c_high, start = k * d_high;
  const T sum = start + top;
  const T rest = (start - sum) + top;
  return log_at_edges(x, sum + (rest + (k * d_low + ((low + high) * c_low + low * c_high))));
}

}  // namespace gradus::math
