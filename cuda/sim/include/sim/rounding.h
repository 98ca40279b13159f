// Arithmetic and conversions that are rounded towards zero, up or down.
#pragma once

#include <host_defines.h>

namespace gradus::cuda::sim {
enum class Rounding { zero, up, down };

// Functions for float and double.
template <class T>
T add(Rounding to, T x, T y);
template <class T>
T multiply(Rounding to, T x, T y);
template <class T>
T divide(Rounding to, T x, T y);
template <class T>
T multiply_add(Rounding to, T x, T y, T z);
template <class T>
T square_root(Rounding to, T x);

// Converts from double and integers to float, and from integers of 64 bits to double.
template <class To, class From>
To convert(Rounding to, From x);
}  // namespace gradus::cuda::sim

#define GRADUS_ARITHMETIC(type, prefix, fma, suffix, to)                              \
  __forceinline__ type prefix##add##suffix(type x, type y) {                          \
    return gradus::cuda::sim::add(gradus::cuda::sim::Rounding::to, x, y);             \
  }                                                                                   \
  __forceinline__ type prefix##sub##suffix(type x, type y) {                          \
    return gradus::cuda::sim::add(gradus::cuda::sim::Rounding::to, x, -y);            \
  }                                                                                   \
  __forceinline__ type prefix##mul##suffix(type x, type y) {                          \
    return gradus::cuda::sim::multiply(gradus::cuda::sim::Rounding::to, x, y);        \
  }                                                                                   \
  __forceinline__ type prefix##div##suffix(type x, type y) {                          \
    return gradus::cuda::sim::divide(gradus::cuda::sim::Rounding::to, x, y);          \
  }                                                                                   \
  __forceinline__ type prefix##rcp##suffix(type x) {                                  \
    return gradus::cuda::sim::divide(gradus::cuda::sim::Rounding::to, type{1}, x);    \
  }                                                                                   \
  __forceinline__ type prefix##sqrt##suffix(type x) {                                 \
    return gradus::cuda::sim::square_root(gradus::cuda::sim::Rounding::to, x);        \
  }                                                                                   \
  __forceinline__ type fma##suffix(type x, type y, type z) {                          \
    return gradus::cuda::sim::multiply_add(gradus::cuda::sim::Rounding::to, x, y, z); \
  }
#define GRADUS_CONVERSION(name, To, From, to)                                  \
  __forceinline__ To name(From x) {                                            \
    return gradus::cuda::sim::convert<To>(gradus::cuda::sim::Rounding::to, x); \
  }
#define GRADUS_ROUNDING(suffix, to)                                     \
  GRADUS_ARITHMETIC(float, __f, __fmaf, suffix, to)                     \
  GRADUS_ARITHMETIC(double, __d, __fma, suffix, to)                     \
  GRADUS_CONVERSION(__double2float##suffix, float, double, to)          \
  GRADUS_CONVERSION(__int2float##suffix, float, int, to)                \
  GRADUS_CONVERSION(__uint2float##suffix, float, unsigned, to)          \
  GRADUS_CONVERSION(__ll2float##suffix, float, long long, to)           \
  GRADUS_CONVERSION(__ull2float##suffix, float, unsigned long long, to) \
  GRADUS_CONVERSION(__ll2double##suffix, double, long long, to)         \
  GRADUS_CONVERSION(__ull2double##suffix, double, unsigned long long, to)

GRADUS_ROUNDING(_rz, zero)
GRADUS_ROUNDING(_ru, up)
GRADUS_ROUNDING(_rd, down)

#undef GRADUS_ROUNDING
#undef GRADUS_CONVERSION
#undef GRADUS_ARITHMETIC
