// Numbers in two parts, for what one part would lose. Dekker, "A floating-point technique for
// extending the available precision" (1971).
#pragma once

#include "gradus/tensor/math/bits.h"

namespace gradus::math {
inline namespace GRADUS_VARIANT {

// high + low, where low is what high lacks.
template <class T>
struct Pair {
  T high, low;
};

// x without the lower half of its bits, so that the product of two such numbers is exact.
template <class T>
GRADUS_HD T upper_half(T x) {
  constexpr Bits<T> lower = (Bits<T>{1} << (kFraction<T> / 2 + 1)) - 1;
  return from_bits<T>(bits_of(x) & ~lower);
}

// REQUIRES: the product's last bit is no less than the least number.
template <class T>
GRADUS_HD Pair<T> exact_product(T a, T b) {
  const T product = a * b;
  if constexpr (kFused) {
    return {product, multiply_add(a, b, -product)};
  } else {
    const T a_high = upper_half(a), a_low = a - a_high, b_high = upper_half(b), b_low = b - b_high;
    return {product,
            ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
  }
}

// REQUIRES: |a| >= |b|, or a = 0.
template <class T>
GRADUS_HD Pair<T> exact_sum(T a, T b) {
  const T sum = a + b;
  return {sum, (a - sum) + b};
}

template <class T>
GRADUS_HD Pair<T> operator*(Pair<T> a, Pair<T> b) {
  const auto [high, low] = exact_product(a.high, b.high);
  return {high, low + multiply_add(a.high, b.low, a.low * b.high)};
}
template <class T>
GRADUS_HD Pair<T> operator*(Pair<T> a, T b) {
  const auto [high, low] = exact_product(a.high, b);
  return {high, multiply_add(a.low, b, low)};
}

// REQUIRES: as exact_sum, of the high parts.
template <class T>
GRADUS_HD Pair<T> operator+(Pair<T> a, Pair<T> b) {
  const auto [high, low] = exact_sum(a.high, b.high);
  return {high, low + (a.low + b.low)};
}
template <class T>
GRADUS_HD Pair<T> operator+(Pair<T> a, T b) {
  const auto [high, low] = exact_sum(a.high, b);
  return {high, low + a.low};
}
template <class T>
GRADUS_HD Pair<T> operator+(T a, Pair<T> b) {
  const auto [high, low] = exact_sum(a, b.high);
  return {high, low + b.low};
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
