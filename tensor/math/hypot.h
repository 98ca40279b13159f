// hypot, and nextafter.
#pragma once

#include <cmath>

#include "gradus/tensor/math/pair.h"

namespace gradus::math {
inline namespace GRADUS_VARIANT {

// sqrt(x^2 + y^2): of floats in double; else with what the squares and the root lack, and scaled so
// that the squares are numbers.
template <Real T>
GRADUS_HD T hypot(T x, T y) {
  const T a = without_sign(x), b = without_sign(y);
  T size;
  if constexpr (is_float<T>) {
    const double wide = static_cast<double>(a), high = static_cast<double>(b);
    size = static_cast<float>(std::sqrt(multiply_add(wide, wide, high * high)));
  } else {
    const T most = a > b ? a : b, least = a > b ? b : a;
    const T scale = most > T(0x1p500) ? T(0x1p-600) : most < T(0x1p-450) ? T(0x1p600) : T(1);
    const T back = most > T(0x1p500) ? T(0x1p600) : most < T(0x1p-450) ? T(0x1p-600) : T(1);
    const auto [square, lost] = exact_product(most * scale, most * scale);
    const T other = least * scale;
    const auto [sum, low] = exact_sum(square, other * other);
    const T root = std::sqrt(sum);
    const auto [product, rest] = exact_product(root, root);
    const T lack = ((sum - product) - rest) + (low + lost);
    size = (root > 0 ? root + lack / (2 * root) : root) * back;
  }
  size = a == kInfinity<T> ? kInfinity<T> : size;
  return b == kInfinity<T> ? kInfinity<T> : size;
}

// The next number after x in the direction of y.
template <Real T>
GRADUS_HD T nextafter(T x, T y) {
  const Bits<T> sign = bits_of(x) & kSign<T>;
  const T size = without_sign(x), towards = from_bits<T>(bits_of(y) ^ sign);
  const Bits<T> step = towards > size ? Bits<T>{1} : ~Bits<T>{0};
  const T moved = from_bits<T>(bits_of(x) + step),
          least = from_bits<T>((bits_of(y) & kSign<T>) | 1);
  T z = x == 0 ? least : moved;
  z = x == y ? y : z;
  z = x != x ? x : z;
  return y != y ? y : z;
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
