// The floating point numbers of 16 bits, one template for both: half has 5 bits of exponent,
// bfloat16 has 8. Members are inlined by force, for a number may lie in the memory of a kernel, and
// the access is the kernel's.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

#include <host_defines.h>
#include <sim/casts.h>
#include <sim/float16_tables.h>

namespace gradus::cuda::sim {

__forceinline__ constexpr double power_of_two(int n) {
  return std::bit_cast<double>(static_cast<uint64_t>(1023 + n) << 52);
}

// The sum rounded to odd: unless it is exact, its last bit is 1. Rounded again to fewer digits, it
// is as if rounded once (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums:
// proved algorithms using rounding to odd", 2008).
__forceinline__ constexpr double sum_to_odd(double a, double b) {
  const double sum = a + b, of_b = sum - a;
  const double lost = (a - (sum - of_b)) + (b - of_b);
  const auto bits = std::bit_cast<uint64_t>(sum);
  if (bits % 2 == 1 || !(lost < 0 || lost > 0)) return sum;
  return std::bit_cast<double>((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

template <int kExponentBits>
class Float16 {
 public:
  struct Raw {
    unsigned short x;
  };

  Float16() = default;
  __forceinline__ constexpr Float16(Raw raw) : bits_(raw.x) {}
  __forceinline__ constexpr Float16(float x) : bits_(encode(static_cast<double>(x))) {}
  __forceinline__ constexpr Float16(double x) : bits_(encode(x)) {}
  template <std::integral I>
  __forceinline__ constexpr Float16(I x) : bits_(encode(to_odd(x))) {}
  template <int kOther>
  requires(kOther != kExponentBits) __forceinline__ constexpr explicit Float16(Float16<kOther> x)
      : bits_(encode(x.wide())) {}

  __forceinline__ constexpr operator Raw() const { return {bits_}; }
  __forceinline__ constexpr operator float() const { return static_cast<float>(wide()); }
  __forceinline__ constexpr operator bool() const { return (bits_ & ~kSign) != 0; }
  template <std::integral I>
  __forceinline__ constexpr operator I() const {
    return saturated<I>(static_cast<float>(wide()));
  }

  // The same number, exactly.
  __forceinline__ constexpr double wide() const {
    const int exponent = (bits_ & ~kSign) >> kMantissaBits;
    const int mantissa = bits_ & ((1 << kMantissaBits) - 1);
    const double sign = bits_ & kSign ? -1 : 1;
    if (exponent == 2 * kBias + 1) {
      using Limits = std::numeric_limits<double>;
      return mantissa ? Limits::quiet_NaN() : sign * Limits::infinity();
    }
    const int digits = mantissa + (exponent ? 1 << kMantissaBits : 0);
    return sign * digits * power_of_two(std::max(exponent, 1) - kBias - kMantissaBits);
  }

  // The nearest that is no greater, no less, no further from zero.
  template <class T>
  __forceinline__ static constexpr Float16 rounded_down(T x) {
    const double number = to_odd(x);
    const Float16 nearest = number;
    return nearest.wide() > number ? nearest.below() : nearest;
  }
  template <class T>
  __forceinline__ static constexpr Float16 rounded_up(T x) {
    const double number = to_odd(x);
    const Float16 nearest = number;
    return nearest.wide() < number ? -(-nearest).below() : nearest;
  }

  template <class T>
  __forceinline__ static constexpr Float16 rounded_to_zero(T x) {
    return x < T{} ? rounded_up(x) : rounded_down(x);
  }

  // Computed in double, these are rounded twice and yet as if once: double has digits and range to
  // spare for + - * / and the square root (Figueroa, "When is double rounding innocuous?", 1995).
#define GRADUS_OPERATOR(sign)                                                         \
  friend __forceinline__ constexpr Float16 operator sign(Float16 a, Float16 b) {      \
    return a.wide() sign b.wide();                                                    \
  }                                                                                   \
  friend __forceinline__ constexpr Float16& operator sign##=(Float16& a, Float16 b) { \
    return a = a sign b;                                                              \
  }
  GRADUS_FLOAT16_OPERATORS(GRADUS_OPERATOR)
#undef GRADUS_OPERATOR

#define GRADUS_RELATION(sign)                                                 \
  friend __forceinline__ constexpr bool operator sign(Float16 a, Float16 b) { \
    return a.wide() sign b.wide();                                            \
  }
  GRADUS_FLOAT16_RELATIONS(GRADUS_RELATION)
#undef GRADUS_RELATION

  friend __forceinline__ constexpr Float16 operator+(Float16 a) { return a; }
  friend __forceinline__ constexpr Float16 operator-(Float16 a) {
    return Raw{static_cast<unsigned short>(a.bits_ ^ kSign)};
  }
  friend __forceinline__ constexpr Float16& operator++(Float16& a) { return a += Float16(1); }
  friend __forceinline__ constexpr Float16& operator--(Float16& a) { return a -= Float16(1); }
  friend __forceinline__ constexpr Float16 operator++(Float16& a, int) {
    const Float16 before = a;
    ++a;
    return before;
  }
  friend __forceinline__ constexpr Float16 operator--(Float16& a, int) {
    const Float16 before = a;
    --a;
    return before;
  }

  // Functions with CUDA's names are friends too, since then their arguments convert as CUDA's do.
#define GRADUS_ARITHMETIC(name, sign)                                                           \
  friend __forceinline__ constexpr Float16 __h##name(Float16 a, Float16 b) { return a sign b; } \
  friend __forceinline__ constexpr Float16 __h##name##_rn(Float16 a, Float16 b) {               \
    return a sign b;                                                                            \
  }                                                                                             \
  friend __forceinline__ constexpr Float16 __h##name##_sat(Float16 a, Float16 b) {              \
    return (a sign b).clamped();                                                                \
  }
  GRADUS_FLOAT16_ARITHMETIC(GRADUS_ARITHMETIC)
#undef GRADUS_ARITHMETIC
  friend __forceinline__ constexpr Float16 __hdiv(Float16 a, Float16 b) { return a / b; }

#define GRADUS_COMPARISON(name, condition)                                \
  friend __forceinline__ constexpr bool __h##name(Float16 a, Float16 b) { \
    const double x = a.wide(), y = b.wide();                              \
    return condition;                                                     \
  }
  GRADUS_FLOAT16_COMPARISONS(GRADUS_COMPARISON)
#undef GRADUS_COMPARISON

  // The product is exact in double; the sum may need more digits than double has.
  friend __forceinline__ constexpr Float16 __hfma(Float16 a, Float16 b, Float16 c) {
    return sum_to_odd(a.wide() * b.wide(), c.wide());
  }
  friend __forceinline__ constexpr Float16 __hfma_sat(Float16 a, Float16 b, Float16 c) {
    return __hfma(a, b, c).clamped();
  }
  friend __forceinline__ constexpr Float16 __hfma_relu(Float16 a, Float16 b, Float16 c) {
    return __hmax_nan(__hfma(a, b, c), Float16(0));
  }

  // A number and a NaN give the number, or in the variants with _nan the NaN. -0 is less than 0.
  friend __forceinline__ constexpr Float16 __hmax(Float16 a, Float16 b) {
    return a != a ? Float16(b.wide()) : a.place() < b.place() && b == b ? b : a;
  }
  friend __forceinline__ constexpr Float16 __hmin(Float16 a, Float16 b) {
    return a != a ? Float16(b.wide()) : b.place() < a.place() && b == b ? b : a;
  }
  friend __forceinline__ constexpr Float16 __hmax_nan(Float16 a, Float16 b) {
    return a != a || b != b ? Float16(Raw{kNaN}) : __hmax(a, b);
  }
  friend __forceinline__ constexpr Float16 __hmin_nan(Float16 a, Float16 b) {
    return a != a || b != b ? Float16(Raw{kNaN}) : __hmin(a, b);
  }

 private:
  static constexpr int kMantissaBits = 15 - kExponentBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kSign = 0x8000;
  static constexpr unsigned short kNaN = 0x7fff;

  // Rounds to the nearest, ties to even.
  __forceinline__ static constexpr unsigned short encode(double x) {
    if (x != x) return kNaN;
    const auto bits = std::bit_cast<uint64_t>(x);
    const auto sign = static_cast<unsigned>(bits >> 63 << 15);
    const double size = x < 0 ? -x : x;
    constexpr int least = 1 - kBias, infinity = (2 * kBias + 1) << kMantissaBits;
    if (size >= power_of_two(kBias + 1)) return static_cast<unsigned short>(sign | infinity);
    const int exponent = std::max(static_cast<int>(bits >> 52 & 0x7ff) - 1023, least);
    // A double of 2^52 or more has no fraction, so adding that rounds to one. A carry goes into the
    // exponent's bits, where it belongs.
    const double digits = size * power_of_two(kMantissaBits - exponent) + 0x1p52 - 0x1p52;
    return static_cast<unsigned short>(
        sign | (static_cast<unsigned>(digits) +
                (static_cast<unsigned>(exponent - least) << kMantissaBits)));
  }

  template <class T>
  __forceinline__ static constexpr double to_odd(T x) {
    if constexpr (sizeof(T) <= 4) {
      return static_cast<double>(x);
    } else {
      const T low = x % (T{1} << 32);
      return sum_to_odd(static_cast<double>(x - low), static_cast<double>(low));
    }
  }

  // The next number downwards. REQUIRES: there is one.
  __forceinline__ constexpr Float16 below() const {
    const int bits = bits_ & kSign ? bits_ + 1 : bits_ == 0 ? kSign + 1 : bits_ - 1;
    return Raw{static_cast<unsigned short>(bits)};
  }

  // The number moved into [0, 1]; 0 for NaN.
  __forceinline__ constexpr Float16 clamped() const {
    return __hmin(__hmax(*this, Float16(0)), Float16(1));
  }

  // Where the number stands in the order of all.
  __forceinline__ constexpr int place() const { return bits_ & kSign ? ~(bits_ & ~kSign) : bits_; }

  unsigned short bits_;
};

}  // namespace gradus::cuda::sim
