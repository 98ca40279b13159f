// CUDA's vector types with its sizes and alignments, dim3, and the make_ functions.
#pragma once

#include <host_defines.h>

// The families char1 to char4, uchar1 to uchar4, ... A vector of two or four is loaded at once
// where it fits into 16 bytes, hence its alignment. A vector of three is three scalars.
#define GRADUS_VECTOR_TYPES(name, type)                                                          \
  struct name##1 {                                                                               \
    type x;                                                                                      \
  };                                                                                             \
  struct __align__(2 * sizeof(type)) name##2 {                                                   \
    type x, y;                                                                                   \
  };                                                                                             \
  struct name##3 {                                                                               \
    type x, y, z;                                                                                \
  };                                                                                             \
  struct __align__(sizeof(type) <= 4 ? 4 * sizeof(type) : 16) name##4 {                          \
    type x, y, z, w;                                                                             \
  };                                                                                             \
  __forceinline__ constexpr name##1 make_##name##1(type x) { return {x}; }                       \
  __forceinline__ constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  __forceinline__ constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  __forceinline__ constexpr name##4 make_##name##4(type x, type y, type z, type w) {             \
    return {x, y, z, w};                                                                         \
  }

GRADUS_VECTOR_TYPES(char, signed char)
GRADUS_VECTOR_TYPES(uchar, unsigned char)
GRADUS_VECTOR_TYPES(short, short)
GRADUS_VECTOR_TYPES(ushort, unsigned short)
GRADUS_VECTOR_TYPES(int, int)
GRADUS_VECTOR_TYPES(uint, unsigned int)
GRADUS_VECTOR_TYPES(long, long)
GRADUS_VECTOR_TYPES(ulong, unsigned long)
GRADUS_VECTOR_TYPES(longlong, long long)
GRADUS_VECTOR_TYPES(ulonglong, unsigned long long)
GRADUS_VECTOR_TYPES(float, float)
GRADUS_VECTOR_TYPES(double, double)

// Four numbers of 8 bytes, whose names say how they are aligned.
#define GRADUS_LARGE_VECTOR(name, type, bytes)                                                   \
  struct __align__(bytes) name##4_##bytes##a {                                                   \
    type x, y, z, w;                                                                             \
  };                                                                                             \
  __forceinline__ constexpr name##4_##bytes##a make_##name##4_##bytes##a(type x, type y, type z, \
                                                                         type w) {               \
    return {x, y, z, w};                                                                         \
  }

GRADUS_LARGE_VECTOR(long, long, 16)
GRADUS_LARGE_VECTOR(long, long, 32)
GRADUS_LARGE_VECTOR(ulong, unsigned long, 16)
GRADUS_LARGE_VECTOR(ulong, unsigned long, 32)
GRADUS_LARGE_VECTOR(longlong, long long, 16)
GRADUS_LARGE_VECTOR(longlong, long long, 32)
GRADUS_LARGE_VECTOR(ulonglong, unsigned long long, 16)
GRADUS_LARGE_VECTOR(ulonglong, unsigned long long, 32)
GRADUS_LARGE_VECTOR(double, double, 16)
GRADUS_LARGE_VECTOR(double, double, 32)

#undef GRADUS_LARGE_VECTOR
#undef GRADUS_VECTOR_TYPES

struct dim3 {
  unsigned int x, y, z;

  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
      : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
