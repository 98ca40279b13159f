// The conversions whose CUDA names contain the type's: `name` is half or bfloat16.
#pragma once

#include <sim/atomics.h>
#include <sim/float16_functions.h>
#include <vector_types.h>

#define GRADUS_FLOAT16_NAMES(name, Type, Type2)                                                    \
  __forceinline__ constexpr Type __float2##name(float x) { return x; }                             \
  __forceinline__ constexpr Type __float2##name##_rn(float x) { return x; }                        \
  __forceinline__ constexpr Type __double2##name(double x) { return x; }                           \
  __forceinline__ constexpr float __##name##2float(Type x) { return x; }                           \
                                                                                                   \
  GRADUS_FLOAT16_INTEGER(name, Type, short, short)                                                 \
  GRADUS_FLOAT16_INTEGER(name, Type, ushort, unsigned short)                                       \
  GRADUS_FLOAT16_INTEGER(name, Type, int, int)                                                     \
  GRADUS_FLOAT16_INTEGER(name, Type, uint, unsigned)                                               \
  GRADUS_FLOAT16_INTEGER(name, Type, ll, long long)                                                \
  GRADUS_FLOAT16_INTEGER(name, Type, ull, unsigned long long)                                      \
  GRADUS_FLOAT16_DIRECTED(__float2##name, Type, float)                                             \
                                                                                                   \
  __forceinline__ Type atomicAdd(Type* address, Type value) {                                      \
    using namespace gradus::cuda::sim;                                                             \
    return atomic(AtomicOp::add, address, value);                                                  \
  }                                                                                                \
  __forceinline__ Type2 atomicAdd(Type2* address, Type2 value) {                                   \
    using namespace gradus::cuda::sim;                                                             \
    return atomic(AtomicOp::add, address, value);                                                  \
  }                                                                                                \
                                                                                                   \
  __forceinline__ constexpr signed char __##name##2char_rz(Type x) { return x; }                   \
  __forceinline__ constexpr unsigned char __##name##2uchar_rz(Type x) { return x; }                \
                                                                                                   \
  __forceinline__ constexpr unsigned short __##name##_as_ushort(Type x) { return Type::Raw(x).x; } \
  __forceinline__ constexpr short __##name##_as_short(Type x) {                                    \
    return static_cast<short>(Type::Raw(x).x);                                                     \
  }                                                                                                \
  __forceinline__ constexpr Type __ushort_as_##name(unsigned short bits) {                         \
    return Type::Raw{bits};                                                                        \
  }                                                                                                \
  __forceinline__ constexpr Type __short_as_##name(short bits) {                                   \
    return Type::Raw{static_cast<unsigned short>(bits)};                                           \
  }                                                                                                \
                                                                                                   \
  __forceinline__ constexpr Type2 make_##name##2(Type x, Type y) { return {x, y}; }                \
  __forceinline__ constexpr Type2 __halves2##name##2(Type x, Type y) { return {x, y}; }            \
  __forceinline__ constexpr Type2 __##name##2##name##2(Type x) { return {x, x}; }                  \
  __forceinline__ constexpr Type2 __float2##name##2_rn(float x) { return {x, x}; }                 \
  __forceinline__ constexpr Type2 __floats2##name##2_rn(float x, float y) { return {x, y}; }       \
  __forceinline__ constexpr Type2 __float22##name##2_rn(float2 a) { return {a.x, a.y}; }           \
  __forceinline__ constexpr float2 __##name##22float2(Type2 a) { return {a.x, a.y}; }              \
  __forceinline__ constexpr Type __low2##name(Type2 a) { return a.x; }                             \
  __forceinline__ constexpr Type __high2##name(Type2 a) { return a.y; }                            \
  __forceinline__ constexpr Type2 __low2##name##2(Type2 a) { return {a.x, a.x}; }                  \
  __forceinline__ constexpr Type2 __high2##name##2(Type2 a) { return {a.y, a.y}; }                 \
  __forceinline__ constexpr Type2 __lows2##name##2(Type2 a, Type2 b) { return {a.x, b.x}; }        \
  __forceinline__ constexpr Type2 __highs2##name##2(Type2 a, Type2 b) { return {a.y, b.y}; }

#define GRADUS_FLOAT16_INTEGER(name, Type, integer, Integer)                        \
  __forceinline__ constexpr Type __##integer##2##name##_rn(Integer x) { return x; } \
  GRADUS_FLOAT16_DIRECTED(__##integer##2##name, Type, Integer)                      \
  __forceinline__ constexpr Integer __##name##2##integer##_rz(Type x) { return x; } \
  __forceinline__ Integer __##name##2##integer##_rn(Type x) { return hrint(x); }    \
  __forceinline__ Integer __##name##2##integer##_ru(Type x) { return hceil(x); }    \
  __forceinline__ Integer __##name##2##integer##_rd(Type x) { return hfloor(x); }

// Rounds towards zero, up, down.
#define GRADUS_FLOAT16_DIRECTED(name, Type, From)                                       \
  __forceinline__ constexpr Type name##_rz(From x) { return Type::rounded_to_zero(x); } \
  __forceinline__ constexpr Type name##_ru(From x) { return Type::rounded_up(x); }      \
  __forceinline__ constexpr Type name##_rd(From x) { return Type::rounded_down(x); }
