// The rest of a division.
#pragma once

#include <cmath>

#include "gradus/tensor/math/bits.h"

namespace gradus::math {
inline namespace GRADUS_VARIANT {

// x and y are near for a division where their quotient is at most this and y is finite.
template <class T>
inline constexpr T kQuotientLimit = kRounder<T> / 4;

// Is greater than the bits of kQuotientLimit where x and y are not near.
template <class T>
GRADUS_HD Bits<T> place_of_quotient(T x, T y) {
  return bits_of(without_sign(x / y) + (y - y));
}

// Exact: the rounded quotient may be an integer where the true one lies below it, and then x minus
// its product with y is negative. REQUIRES: kFused.
template <class T>
GRADUS_HD Near<T> fmod(Near<T> x, Near<T> y) {
  const T size = without_sign(x.value), divisor = without_sign(y.value);
  const T rest = multiply_add(-std::trunc(size / divisor), divisor, size);
  return Near<T>(with_sign_of(x.value, rest < 0 ? rest + divisor : rest));
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
