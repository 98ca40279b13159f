// asin, acos, atan and atan2.
#pragma once

#include <cmath>

#include "gradus/tensor/math/trig.h"

namespace gradus::math {
inline namespace GRADUS_VARIANT {

// `turns` quarter turns + x + x^3 series + lack, where x comes to less than the turns, or they are
// 0.
template <class T>
GRADUS_HD T add_turns(T turns, T x, T cube, T series, T lack = 0) {
  const auto [angle, lost] = exact_sum(turns * kQuarterTurn<T>.high, x);
  const T low = multiply_add(turns, kQuarterTurn<T>.low, lost) + lack;
  return angle + multiply_add(cube, series, low);
}

// (atan(x) - x) / x^3 from z = x^2, up to 1
template <class T>
GRADUS_HD T atan_series(T z) {
  if constexpr (is_float<T>)
    return polynomial(z, -0x1.55553ep-2f, 0x1.9991fep-3f, -0x1.2422f2p-3f, 0x1.c0b048p-4f,
                      -0x1.588858p-4f, 0x1.dc13e8p-5f, -0x1.00ceb8p-5f, 0x1.68d218p-7f,
                      -0x1.dc105ep-10f);
  else
    return polynomial(
        z, -0x1.5555555555526p-2, 0x1.99999999955b1p-3, -0x1.249249237f4aep-3, 0x1.c71c717fcc8b1p-4,
        -0x1.745d11ae44d23p-4, 0x1.3b1366982ce81p-4, -0x1.110e511852841p-4, 0x1.e1bba5ceeae56p-5,
        -0x1.ae5e704a598a3p-5, 0x1.82dad011ba78dp-5, -0x1.59a3ed4ccd9eap-5, 0x1.2c2e3be072892p-5,
        -0x1.e9f9af05df10fp-6, 0x1.683c6008f9cb1p-6, -0x1.c78f18d535c6ap-7, 0x1.d7b83f52969dfp-8,
        -0x1.7a38c109be13p-9, 0x1.b3f9b36e6c966p-11, -0x1.3f356f89ed9b2p-13, 0x1.bbec5a3cf99c6p-17);
}

// So many quarter turns and atan(q + lack). REQUIRES: |q| <= 1.
template <class T>
GRADUS_HD T atan_beyond(T turns, T q, T lack = 0) {
  const T z = q * q;
  return add_turns(turns, q, q * z, atan_series(z), lack * multiply_add(z, T(-0.5), T(1)));
}

template <Real T>
GRADUS_HD T atan(T x) {
  const T size = without_sign(x);
  const T q = size > 1 ? -1 / size : size;
  return with_sign_of(x, atan_beyond(size > 1 ? T(1) : T(0), q));
}

// The angle of the point (x, y).
template <Real T>
GRADUS_HD T atan2(T y, T x) {
  const T high = without_sign(y), wide = without_sign(x);
  const bool steep = high > wide;
  // Arguments so low are lifted, since the rest of the quotient may not be subnormal.
  constexpr T shift = kRounder<T> / T(1.5), lowest = kLeastNormal<T> * shift * shift;
  const T lift = (steep ? wide : high) < lowest ? shift * shift : T(1);
  const T least = (steep ? wide : high) * lift, most = (steep ? high : wide) * lift;
  const T q = least == most ? T(most > 0) : least / most;  // of infinities 1, of zeros 0
  const auto [near, rest] = exact_product(q, most);
  const T left_over = ((least - near) - rest) / most;
  const T lack = left_over == left_over ? left_over : T(0);  // where 0 or infinity is involved
  const Bits<T> left = sign_mask(x);
  const T turns = steep ? T(1) : from_bits<T>(bits_of(T(2)) & left);
  const Bits<T> back = (steep ? kSign<T> : Bits<T>{0}) ^ (left & kSign<T>);
  const T angle =
      atan_beyond(turns, from_bits<T>(bits_of(q) ^ back), from_bits<T>(bits_of(lack) ^ back));
  return with_sign_of(y, angle);
}

// (asin(x) - x) / x^3 from z = x^2, up to 1/4
template <class T>
GRADUS_HD T asin_series(T z) {
  if constexpr (is_float<T>)
    return polynomial(z, 0x1.5555cap-3f, 0x1.33016ap-4f, 0x1.748a2cp-5f, 0x1.8bb538p-6f,
                      0x1.59cc8ep-5f);
  else
    return polynomial(z, 0x1.5555555555578p-3, 0x1.333333332df7dp-4, 0x1.6db6db722619cp-5,
                      0x1.f1c71a8dbdd53p-6, 0x1.6e8bdfa09ff75p-6, 0x1.1c49e4008b0b2p-6,
                      0x1.ca20943a10702p-7, 0x1.757e50b48993p-7, 0x1.615e4772f0407p-7,
                      0x1.e45bdd04b7af5p-9, 0x1.63fc16e93b308p-6, -0x1.585e915bdff45p-6,
                      0x1.0b5a1161ea76dp-5);
}

// asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)) beyond 1/2.
template <Real T>
GRADUS_HD T asin(T x) {
  const T size = without_sign(x);
  const bool far = size > T(0.5);
  const T z = far ? T(0.5) - T(0.5) * size : size * size;
  const T root = far ? -2 * std::sqrt(z) : size;
  return with_sign_of(x, add_turns(far ? T(1) : T(0), root, root * z, asin_series(z)));
}

template <Real T>
GRADUS_HD T acos(T x) {
  const T size = without_sign(x);
  const bool far = size > T(0.5);
  const T z = far ? T(0.5) - T(0.5) * size : size * size;
  const T root = far ? 2 * std::sqrt(z) : size;
  const T turns = far ? from_bits<T>(bits_of(T(2)) & sign_mask(x)) : T(1);
  const Bits<T> back = (bits_of(x) ^ (far ? Bits<T>{0} : kSign<T>)) & kSign<T>;
  const T way = from_bits<T>(bits_of(root) ^ back);
  return add_turns(turns, way, way * z, asin_series(z));
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
