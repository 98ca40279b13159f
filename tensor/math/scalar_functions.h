// Functions of numbers for host and device, which the rows of elementwise.def call beyond <cmath>.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "gradus/tensor/base/host_device.h"
#include "gradus/tensor/math/math.h"

// GRADUS_HD for long functions. A kernel has a copy of its function for each element of a thread,
// up to 33 of them, which takes long to compile. Kernels call long functions instead, whose own
// time hides the call.
#ifdef __CUDACC__
#define GRADUS_HD_LONG GRADUS_HD __noinline__
#else
#define GRADUS_HD_LONG GRADUS_HD
#endif

namespace gradus::scalar {
inline namespace GRADUS_VARIANT {

// A GPU has functions of its own; those of the host become vector code.
#ifdef __CUDA_ARCH__
using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atan2, std::atanh, std::cos,
    std::cosh, std::erf, std::erfc, std::exp, std::exp2, std::expm1, std::hypot, std::log,
    std::log10, std::log1p, std::log2, std::nextafter, std::pow, std::sin, std::sinh, std::tan,
    std::tanh;
#else
using math::acos, math::acosh, math::asin, math::asinh, math::atan, math::atan2, math::atanh,
    math::cos, math::cosh, math::erf, math::erfc, math::exp, math::exp2, math::expm1, math::hypot,
    math::log, math::log10, math::log1p, math::log2, math::logistic, math::nextafter,
    math::normal_share, math::pow, math::sin, math::sinh, math::tan, math::tanh;
#endif

// Variables, since device code may read a constant where it may not call numeric_limits.
template <class T, class Limits = std::numeric_limits<T>>
inline constexpr T least_value = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
template <class T, class Limits = std::numeric_limits<T>>
inline constexpr T greatest_value = Limits::has_infinity ? Limits::infinity() : Limits::max();
template <class T>
inline constexpr T nan_value = std::numeric_limits<T>::quiet_NaN();
template <class T>
inline constexpr T epsilon_value = std::numeric_limits<T>::epsilon();

// --- Division
// Integers in unsigned arithmetic, where what does not fit wraps around instead of being undefined.
template <class T>
GRADUS_HD auto bits_of(T x) {
  return static_cast<std::make_unsigned_t<T>>(x);
}

// The quotient, rounded to zero, and the rest, which has the sign of x. Integers divided by 0 give
// -1 (all bits set) and leave x; the least integer divided by -1 wraps around.
template <class T>
GRADUS_HD T quotient_to_zero(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    return std::trunc(x / y);
  else if (y == 0)
    return -1;
  else
    return y == -1 ? static_cast<T>(0 - bits_of(x)) : x / y;
}
template <class T>
GRADUS_HD T rest_to_zero(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fmod(x, y);
  else if (y == 0)
    return x;
  else
    return y == -1 ? 0 : x % y;
}

// Whether what is left has another sign than y.
template <class T>
GRADUS_HD bool is_beyond(T rest, T y) {
  if constexpr (std::is_floating_point_v<T>)
    return (y < 0 ? -rest : rest) < 0;  // without branches
  else
    return rest != 0 && (rest < 0) != (y < 0);
}

// The same, rounded down: what is left has the sign of y.
template <class T>
GRADUS_HD T rest_down(T x, T y) {
  const T rest = rest_to_zero(x, y);
  return is_beyond(rest, y) ? rest + y : rest;
}
// The floating point quotient, from the rest with the sign of x.
template <class T>
GRADUS_HD T quotient_down(T x, T y, T rest) {
  // floor(x / y) would be off by one where x / y rounds up to an integer.
  const T quotient = (x - rest) / y - (is_beyond(rest, y) ? T(1) : T(0));
  return quotient == 0 ? std::copysign(T(0), x / y) : std::nearbyint(quotient);
}
template <class T>
GRADUS_HD T quotient_down(T x, T y) {
  if (y == 0) return std::is_floating_point_v<T> ? x / y : -1;
  const T rest = rest_to_zero(x, y);
  if constexpr (std::is_floating_point_v<T>)
    return quotient_down(x, y, rest);
  else
    return quotient_to_zero(x, y) - is_beyond(rest, y);
}

// The rest for numbers that are near for a division.
template <class T>
GRADUS_HD math::Near<T> rest_to_zero(math::Near<T> x, math::Near<T> y) {
  return math::fmod(x, y);
}
template <class T>
GRADUS_HD math::Near<T> rest_down(math::Near<T> x, math::Near<T> y) {
  const T rest = math::fmod(x, y).value;
  return math::Near<T>(is_beyond(rest, y.value) ? rest + y.value : rest);
}
template <class T>
GRADUS_HD math::Near<T> quotient_down(math::Near<T> x, math::Near<T> y) {
  return math::Near<T>(quotient_down(x.value, y.value, math::fmod(x, y).value));
}

// --- Integers
// A shift by a negative number, or by all bits or more, moves every bit out.
template <class T>
GRADUS_HD T shift_left(T x, T count) {
  return count < 0 || count >= T(8 * sizeof(T)) ? 0 : static_cast<T>(bits_of(x) << count);
}
template <class T>
GRADUS_HD T shift_right(T x, T count) {
  return x >> (count < 0 || count >= T(8 * sizeof(T)) ? T(8 * sizeof(T) - 1) : count);
}

template <class T>
GRADUS_HD T greatest_divisor(T x, T y) {
  auto a = x < 0 ? 0 - bits_of(x) : bits_of(x), b = y < 0 ? 0 - bits_of(y) : bits_of(y);
  while (b != 0) {
    const auto rest = a % b;
    a = b;
    b = rest;
  }
  return static_cast<T>(a);
}
template <class T>
GRADUS_HD T least_multiple(T x, T y) {
  const T divisor = greatest_divisor(x, y);
  if (divisor == 0) return 0;
  const auto multiple = bits_of(x / divisor) * bits_of(y);
  return static_cast<T>(static_cast<T>(multiple) < 0 ? 0 - multiple : multiple);
}

// --- Powers
#ifndef __CUDA_ARCH__
template <class T>
requires std::is_floating_point_v<T> T power(T x, T y) { return pow(x, y); }
#endif
// Integers are squared again and again. A negative exponent gives 0, or +-1 where x is +-1.
template <class T>
requires(!std::is_floating_point_v<T>) GRADUS_HD T power(T x, T y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  std::make_unsigned_t<T> result = 1;
  for (auto base = bits_of(x); y > 0; y >>= 1, base *= base)
    if (y & 1) result *= base;
  return static_cast<T>(result);
}

// --- The rows of helpers.def
#define HELPER(name, params, ...)     \
  template <class T>                  \
  GRADUS_HD constexpr T name params { \
    return __VA_ARGS__;               \
  }
#define BY_KIND(result, name, params, floating, integers) \
  template <class T>                                      \
  GRADUS_HD constexpr result name params {                \
    if constexpr (std::is_floating_point_v<T>)            \
      return floating;                                    \
    else                                                  \
      return integers;                                    \
  }
#ifdef __CUDA_ARCH__
#define GPU(name, params, ...) \
  template <class T>           \
  requires std::is_floating_point_v<T> GRADUS_HD constexpr T name params { return __VA_ARGS__; }
#endif
#include "gradus/tensor/table/helpers.def"

}  // namespace GRADUS_VARIANT
}  // namespace gradus::scalar
