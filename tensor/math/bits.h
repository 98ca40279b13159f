// The common part of the elementary functions. All are formulas without branches or tables, which a
// compiler turns into vector code. Built with -ffp-contract=off they give the same bits at every
// place of an array.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "gradus/tensor/base/host_device.h"

// Files that are compiled for instruction sets which multiply and add with one rounding define
// GRADUS_FMA. The functions in them have names of their own, so that the linker puts no others in
// their place.
#ifdef GRADUS_FMA
#define GRADUS_VARIANT fused
#else
#define GRADUS_VARIANT plain
#endif

namespace gradus::math {
inline namespace GRADUS_VARIANT {

template <class T>
concept Number = std::is_arithmetic_v<T>;
template <class T>
concept Real = Number<T> && std::is_floating_point_v<T>;

template <class T>
using Bits = std::conditional_t<std::is_same_v<T, float>, uint32_t, uint64_t>;

// The format of a number: the bits of the fraction, and the number added to the exponent.
template <class T>
inline constexpr int kFraction = std::numeric_limits<T>::digits - 1;
template <class T>
inline constexpr int kBias = std::numeric_limits<T>::max_exponent - 1;

// Variables, since device code may read a constant where it may not call numeric_limits.
template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
template <class T>
inline constexpr T kLeastNormal = std::numeric_limits<T>::min();

template <class T>
GRADUS_HD constexpr Bits<T> bits_of(T x) {
  return __builtin_bit_cast(Bits<T>, x);
}
template <class T>
GRADUS_HD constexpr T from_bits(Bits<T> x) {
  return __builtin_bit_cast(T, x);
}

template <class T>
inline constexpr Bits<T> kSign = Bits<T>{1} << (8 * sizeof(T) - 1);
template <class T>
GRADUS_HD T without_sign(T x) {
  return from_bits<T>(bits_of(x) & ~kSign<T>);
}
// All bits where the sign is negative, none elsewhere.
template <class T>
GRADUS_HD constexpr Bits<T> sign_mask(T x) {
  return static_cast<Bits<T>>(static_cast<std::make_signed_t<Bits<T>>>(bits_of(x)) >>
                              (8 * sizeof(T) - 1));
}
// `x` is not negative.
template <class T>
GRADUS_HD T with_sign_of(T sign, T x) {
  return from_bits<T>(bits_of(x) | (bits_of(sign) & kSign<T>));
}

// A number that large has no fraction left, so that adding it rounds to an integer, which then
// stands in the last bits.
template <class T>
inline constexpr T kRounder = T(3) * from_bits<T>(Bits<T>(kBias<T> + kFraction<T> - 1)
                                                  << kFraction<T>);

#ifdef GRADUS_FMA
inline constexpr bool kFused = true;
#else
inline constexpr bool kFused = false;
#endif

// a * b + c, rounded once or twice.
template <class T>
GRADUS_HD T multiply_add(T a, T b, T c) {
  if constexpr (!kFused)
    return a * b + c;
  else if constexpr (std::is_same_v<T, float>)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
}

// c0 + c1 x + c2 x^2 + ...
template <class T>
GRADUS_HD T polynomial(T, T c0) {
  return c0;
}
template <class T, class... C>
GRADUS_HD T polynomial(T x, T c0, C... rest) {
  return multiply_add(x, polynomial(x, rest...), c0);
}

// A number from the range where a function has no special cases, so that its formula is short. The
// result has the same bits as that of the formula for all numbers. A row of elementwise.def that is
// made of such functions and a sign works on it as on a number.
template <class T>
struct Near {
  T value;
  GRADUS_HD explicit Near(T x) : value(x) {}
};
template <class T>
GRADUS_HD Near<T> operator-(Near<T> x) {
  return Near<T>(-x.value);
}

// The range of such numbers: from `least` to `most`, both positive, or all magnitudes up to `most`.
template <class T>
struct Range {
  T least, most;
  bool of_magnitude;

  // x is in the range where this is at most span(); for infinities and NaN it is greater.
  GRADUS_HD constexpr Bits<T> place(T x) const {
    return of_magnitude ? bits_of(x) & ~kSign<T> : bits_of(x) - bits_of(least);
  }
  GRADUS_HD constexpr Bits<T> span() const {
    return of_magnitude ? bits_of(most) : bits_of(most) - bits_of(least);
  }
};

// One of two numbers, by the type that is computed with.
template <class T>
inline constexpr bool is_float = std::is_same_v<T, float>;

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
