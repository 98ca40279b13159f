// Conversions that say how they round, and those that keep the bits.
#pragma once

#include <math.h>

#include <bit>
#include <limits>
#include <type_traits>

#include <host_defines.h>

__forceinline__ constexpr int __float_as_int(float x) { return std::bit_cast<int>(x); }
__forceinline__ constexpr float __int_as_float(int x) { return std::bit_cast<float>(x); }
__forceinline__ constexpr unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
__forceinline__ constexpr float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
__forceinline__ constexpr long long __double_as_longlong(double x) {
  return std::bit_cast<long long>(x);
}
__forceinline__ constexpr double __longlong_as_double(long long x) {
  return std::bit_cast<double>(x);
}

__forceinline__ constexpr int __double2hiint(double x) {
  return static_cast<int>(__double_as_longlong(x) >> 32);
}
__forceinline__ constexpr int __double2loint(double x) {
  return static_cast<int>(__double_as_longlong(x));
}
__forceinline__ constexpr double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(high) << 32 | static_cast<unsigned>(low));
}

// C++ rounds these to the nearest, ties to even, as long as nobody changed the rounding mode.
__forceinline__ float __double2float_rn(double x) { return static_cast<float>(x); }
__forceinline__ float __int2float_rn(int x) { return static_cast<float>(x); }
__forceinline__ float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
__forceinline__ float __ll2float_rn(long long x) { return static_cast<float>(x); }
__forceinline__ float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
__forceinline__ double __int2double_rn(int x) { return x; }
__forceinline__ double __uint2double_rn(unsigned x) { return x; }
__forceinline__ double __ll2double_rn(long long x) { return static_cast<double>(x); }
__forceinline__ double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }

namespace gradus::cuda::sim {

// A number without fraction as an integer: the nearest there is, and for NaN what PTX says of cvt.
template <class To, class From>
constexpr To saturated(From x) {
  using Limits = std::numeric_limits<To>;
  constexpr From too_large = From{2} * static_cast<From>(To{1} << (Limits::digits - 1));
  if (x != x)
    return sizeof(From) == 4 && sizeof(To) <= 4 ? To{0}
                                                : static_cast<To>(1ull << (8 * sizeof(To) - 1));
  if (x >= too_large) return Limits::max();
  if (x < static_cast<From>(Limits::min())) return Limits::min();
  return static_cast<To>(x);
}

}  // namespace gradus::cuda::sim

// Rounds to the nearest (ties to even), towards zero, up, down.
#define GRADUS_TO_INTEGER(name, From, To)                                                     \
  __forceinline__ To name##_rn(From x) { return gradus::cuda::sim::saturated<To>(rint(x)); }  \
  __forceinline__ To name##_rz(From x) { return gradus::cuda::sim::saturated<To>(trunc(x)); } \
  __forceinline__ To name##_ru(From x) { return gradus::cuda::sim::saturated<To>(ceil(x)); }  \
  __forceinline__ To name##_rd(From x) { return gradus::cuda::sim::saturated<To>(floor(x)); }

GRADUS_TO_INTEGER(__float2int, float, int)
GRADUS_TO_INTEGER(__float2uint, float, unsigned)
GRADUS_TO_INTEGER(__float2ll, float, long long)
GRADUS_TO_INTEGER(__float2ull, float, unsigned long long)
GRADUS_TO_INTEGER(__double2int, double, int)
GRADUS_TO_INTEGER(__double2uint, double, unsigned)
GRADUS_TO_INTEGER(__double2ll, double, long long)
GRADUS_TO_INTEGER(__double2ull, double, unsigned long long)

#undef GRADUS_TO_INTEGER
