// min and max with CUDA's overloads, no more and no fewer: a call that nvcc finds ambiguous must be
// ambiguous here.
#pragma once

#include <math.h>

#include <host_defines.h>

#define GRADUS_MIN_MAX(Result, A, B)                                   \
  __forceinline__ constexpr Result min(A a, B b) {                     \
    const auto x = static_cast<Result>(a), y = static_cast<Result>(b); \
    return x < y ? x : y;                                              \
  }                                                                    \
  __forceinline__ constexpr Result max(A a, B b) {                     \
    const auto x = static_cast<Result>(a), y = static_cast<Result>(b); \
    return x > y ? x : y;                                              \
  }

#define GRADUS_MIN_MAX_INTEGER(type)                          \
  GRADUS_MIN_MAX(type, type, type)                            \
  GRADUS_MIN_MAX(unsigned type, unsigned type, unsigned type) \
  GRADUS_MIN_MAX(unsigned type, type, unsigned type)          \
  GRADUS_MIN_MAX(unsigned type, unsigned type, type)

GRADUS_MIN_MAX_INTEGER(int)
GRADUS_MIN_MAX_INTEGER(long)
GRADUS_MIN_MAX_INTEGER(long long)

#undef GRADUS_MIN_MAX_INTEGER
#undef GRADUS_MIN_MAX

// A number and a NaN give the number.
__forceinline__ float min(float a, float b) { return fminf(a, b); }
__forceinline__ float max(float a, float b) { return fmaxf(a, b); }
__forceinline__ double min(double a, double b) { return ::fmin(a, b); }
__forceinline__ double max(double a, double b) { return ::fmax(a, b); }
__forceinline__ double min(float a, double b) { return min(static_cast<double>(a), b); }
__forceinline__ double max(float a, double b) { return max(static_cast<double>(a), b); }
__forceinline__ double min(double a, float b) { return min(a, static_cast<double>(b)); }
__forceinline__ double max(double a, float b) { return max(a, static_cast<double>(b)); }

__forceinline__ constexpr unsigned umin(unsigned a, unsigned b) { return min(a, b); }
__forceinline__ constexpr unsigned umax(unsigned a, unsigned b) { return max(a, b); }
__forceinline__ constexpr long long llmin(long long a, long long b) { return min(a, b); }
__forceinline__ constexpr long long llmax(long long a, long long b) { return max(a, b); }
__forceinline__ constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
__forceinline__ constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}
