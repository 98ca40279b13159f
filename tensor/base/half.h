// Half (float16) and BFloat16: floating point numbers of 16 bits, for storage. Arithmetic converts
// them to float and rounds each result, to the nearest, ties to even (IEEE 754, section 4.3.1).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <type_traits>

#include "gradus/tensor/base/host_device.h"

namespace gradus {

namespace detail {
GRADUS_HD inline uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }
GRADUS_HD inline float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }

GRADUS_HD inline uint16_t bfloat16_bits(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  uint16_t out;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out) : "f"(x));
  return out;
#else
  const uint32_t bits = bits_of(x);
  if (x != x) return static_cast<uint16_t>(bits >> 16 | 0x40);  // a NaN stays one
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}

// A float has 13 more bits in its fraction, and its exponent bias is greater by 112.
GRADUS_HD inline uint16_t half_bits(float x) {
#ifdef __CUDA_ARCH__
  uint16_t out;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(x));
  return out;
#else
  const uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);   // NaN
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // rounds to infinity
  if (magnitude < 0x38800000) {
    // Subnormal results: adding 0.5 rounds to multiples of 2^-24, and leaves their number in the
    // last bits.
    const float shifted = float_of(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (bits_of(shifted) - 0x3f000000));
  }
  return static_cast<uint16_t>(sign |
                               ((magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13));
#endif
}
GRADUS_HD inline float half_value(uint16_t bits) {
#ifdef __CUDA_ARCH__
  float out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(bits));
  return out;
#else
  const uint32_t sign = uint32_t{bits} << 16 & 0x80000000, magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) return float_of(sign | 0x7f800000 | magnitude << 13);
  // The product with 2^112 gives subnormal numbers their exponent.
  return float_of(sign | bits_of(float_of(magnitude << 13) * 0x1p112f));
#endif
}
}  // namespace detail

struct Half {
  uint16_t bits = 0;
  Half() = default;
  template <class T>
  requires std::is_arithmetic_v<T> GRADUS_HD Half(T x)  // NOLINT: implicit, as in libtorch
      : bits(detail::half_bits(static_cast<float>(x))) {}
  GRADUS_HD operator float() const { return detail::half_value(bits); }
};

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  template <class T>
  requires std::is_arithmetic_v<T> GRADUS_HD BFloat16(T x)  // NOLINT: implicit
      : bits(detail::bfloat16_bits(static_cast<float>(x))) {}
  GRADUS_HD operator float() const { return detail::float_of(uint32_t{bits} << 16); }
};

template <class T>
inline constexpr bool is_half = false;
template <>
inline constexpr bool is_half<Half> = true;
template <>
inline constexpr bool is_half<BFloat16> = true;
template <class T>
concept HalfType = is_half<T>;

// An operation on a Half and an integer gives a Half. An operation on a Half and any other number
// gives a float.
template <class T>
concept TakenAsHalf = std::is_same_v<T, int> || std::is_same_v<T, int64_t>;

#define GRADUS_HALF_OPERATOR(op)                           \
  template <HalfType T>                                    \
  GRADUS_HD T operator op(T a, T b) {                      \
    return static_cast<float>(a) op static_cast<float>(b); \
  }                                                        \
  template <HalfType T, TakenAsHalf N>                     \
  GRADUS_HD T operator op(T a, N b) {                      \
    return a op T(b);                                      \
  }                                                        \
  template <HalfType T, TakenAsHalf N>                     \
  GRADUS_HD T operator op(N a, T b) {                      \
    return T(a) op b;                                      \
  }
GRADUS_HALF_OPERATOR(+)
GRADUS_HALF_OPERATOR(-)
GRADUS_HALF_OPERATOR(*)
GRADUS_HALF_OPERATOR(/)
#undef GRADUS_HALF_OPERATOR
template <HalfType T>
GRADUS_HD T operator-(T a) {
  return -static_cast<float>(a);
}
template <HalfType T>
GRADUS_HD T& operator+=(T& a, std::type_identity_t<T> b) {
  return a = a + b;
}
template <HalfType T>
GRADUS_HD T& operator-=(T& a, std::type_identity_t<T> b) {
  return a = a - b;
}
template <HalfType T>
GRADUS_HD T& operator*=(T& a, std::type_identity_t<T> b) {
  return a = a * b;
}
template <HalfType T>
GRADUS_HD T& operator/=(T& a, std::type_identity_t<T> b) {
  return a = a / b;
}

std::ostream& operator<<(std::ostream& out, Half x);
std::ostream& operator<<(std::ostream& out, BFloat16 x);

}  // namespace gradus

// std::numeric_limits of a format with this precision and range of exponents.
namespace gradus::detail {
template <class T, int precision, int greatest_exponent, uint16_t smallest, uint16_t largest,
          uint16_t step, uint16_t least_subnormal>
struct HalfLimits {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false,
                        is_exact = false, has_infinity = true, has_quiet_NaN = true,
                        has_signaling_NaN = true, is_iec559 = true, is_bounded = true,
                        is_modulo = false, traps = false, tinyness_before = false;
  static constexpr auto has_denorm = std::denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr auto round_style = std::round_to_nearest;
  static constexpr int digits = precision, digits10 = (precision - 1) * 301 / 1000,
                       max_digits10 = 2 + precision * 301 / 1000, radix = 2,
                       max_exponent = greatest_exponent, min_exponent = 3 - greatest_exponent,
                       max_exponent10 = (greatest_exponent - 1) * 301 / 1000,
                       min_exponent10 = -max_exponent10;
  static T min() { return of(smallest); }
  static T max() { return of(largest); }
  static T lowest() { return of(static_cast<uint16_t>(largest | 0x8000)); }
  static T epsilon() { return of(step); }
  static T round_error() { return T(0.5f); }
  static T infinity() { return T(std::numeric_limits<float>::infinity()); }
  static T quiet_NaN() { return T(std::numeric_limits<float>::quiet_NaN()); }
  static T signaling_NaN() { return quiet_NaN(); }
  static T denorm_min() { return of(least_subnormal); }

 private:
  static T of(uint16_t bits) {
    T out;
    out.bits = bits;
    return out;
  }
};
}  // namespace gradus::detail
template <>
class std::numeric_limits<gradus::Half>
    : public gradus::detail::HalfLimits<gradus::Half, 11, 16, 0x0400, 0x7bff, 0x1400, 1> {};
template <>
class std::numeric_limits<gradus::BFloat16>
    : public gradus::detail::HalfLimits<gradus::BFloat16, 8, 128, 0x0080, 0x7f7f, 0x3c00, 1> {};
