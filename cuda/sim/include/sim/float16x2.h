// Two numbers of 16 bits, side by side in 4 bytes.
#pragma once

#include <math.h>

#include <sim/float16.h>

namespace gradus::cuda::sim {

template <int kExponentBits>
struct __align__(4) Float16x2 {
  using Half = Float16<kExponentBits>;

  Half x, y;

  Float16x2() = default;
  __forceinline__ constexpr Float16x2(Half x_, Half y_) : x(x_), y(y_) {}

#define GRADUS_OPERATOR(sign)                                                               \
  friend __forceinline__ constexpr Float16x2 operator sign(Float16x2 a, Float16x2 b) {      \
    return {a.x sign b.x, a.y sign b.y};                                                    \
  }                                                                                         \
  friend __forceinline__ constexpr Float16x2& operator sign##=(Float16x2& a, Float16x2 b) { \
    return a = a sign b;                                                                    \
  }
  GRADUS_FLOAT16_OPERATORS(GRADUS_OPERATOR)
#undef GRADUS_OPERATOR

#define GRADUS_RELATION(sign)                                                     \
  friend __forceinline__ constexpr bool operator sign(Float16x2 a, Float16x2 b) { \
    return a.x sign b.x && a.y sign b.y;                                          \
  }
  GRADUS_FLOAT16_RELATIONS(GRADUS_RELATION)
#undef GRADUS_RELATION

  friend __forceinline__ constexpr Float16x2 operator+(Float16x2 a) { return a; }
  friend __forceinline__ constexpr Float16x2 operator-(Float16x2 a) { return {-a.x, -a.y}; }

#define GRADUS_ARITHMETIC(name, sign)                                                     \
  friend __forceinline__ constexpr Float16x2 __h##name##2(Float16x2 a, Float16x2 b) {     \
    return a sign b;                                                                      \
  }                                                                                       \
  friend __forceinline__ constexpr Float16x2 __h##name##2_rn(Float16x2 a, Float16x2 b) {  \
    return a sign b;                                                                      \
  }                                                                                       \
  friend __forceinline__ constexpr Float16x2 __h##name##2_sat(Float16x2 a, Float16x2 b) { \
    return {__h##name##_sat(a.x, b.x), __h##name##_sat(a.y, b.y)};                        \
  }
  GRADUS_FLOAT16_ARITHMETIC(GRADUS_ARITHMETIC)
#undef GRADUS_ARITHMETIC
  friend __forceinline__ constexpr Float16x2 __h2div(Float16x2 a, Float16x2 b) { return a / b; }

  // Comparisons of both at once: as numbers 1 and 0, and as masks.
#define GRADUS_COMPARISON(name, condition)                                                \
  friend __forceinline__ constexpr Float16x2 __h##name##2(Float16x2 a, Float16x2 b) {     \
    return {__h##name(a.x, b.x), __h##name(a.y, b.y)};                                    \
  }                                                                                       \
  friend __forceinline__ constexpr bool __hb##name##2(Float16x2 a, Float16x2 b) {         \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                    \
  }                                                                                       \
  friend __forceinline__ constexpr unsigned __h##name##2_mask(Float16x2 a, Float16x2 b) { \
    return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0); \
  }
  GRADUS_FLOAT16_COMPARISONS(GRADUS_COMPARISON)
#undef GRADUS_COMPARISON

#define GRADUS_MIN_MAX(name)                                                              \
  friend __forceinline__ constexpr Float16x2 __h##name##2(Float16x2 a, Float16x2 b) {     \
    return {__h##name(a.x, b.x), __h##name(a.y, b.y)};                                    \
  }                                                                                       \
  friend __forceinline__ constexpr Float16x2 __h##name##2_nan(Float16x2 a, Float16x2 b) { \
    return {__h##name##_nan(a.x, b.x), __h##name##_nan(a.y, b.y)};                        \
  }
  GRADUS_MIN_MAX(min)
  GRADUS_MIN_MAX(max)
#undef GRADUS_MIN_MAX

#define GRADUS_FMA(suffix)                                                             \
  friend __forceinline__ constexpr Float16x2 __hfma2##suffix(Float16x2 a, Float16x2 b, \
                                                             Float16x2 c) {            \
    return {__hfma##suffix(a.x, b.x, c.x), __hfma##suffix(a.y, b.y, c.y)};             \
  }
  GRADUS_FMA()
  GRADUS_FMA(_sat)
  GRADUS_FMA(_relu)
#undef GRADUS_FMA
};

}  // namespace gradus::cuda::sim
