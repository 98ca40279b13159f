// CUDA's functions of one number of 16 bits, or of two side by side.
#pragma once

#include <math.h>

#include <sim/float16.h>
#include <sim/float16x2.h>

namespace gradus::cuda::sim {

template <int E>
__forceinline__ constexpr Float16<E> __hneg(Float16<E> a) {
  return -a;
}
template <int E>
__forceinline__ constexpr Float16<E> __habs(Float16<E> a) {
  using Raw = typename Float16<E>::Raw;
  return Raw{static_cast<unsigned short>(Raw(a).x & 0x7fff)};
}
template <int E>
__forceinline__ constexpr bool __hisnan(Float16<E> a) {
  return a != a;
}
// 1 for infinity, -1 for minus infinity, else 0.
template <int E>
__forceinline__ constexpr int __hisinf(Float16<E> a) {
  return a - a == a - a || a != a ? 0 : a > Float16<E>(0) ? 1 : -1;
}

template <int E>
__forceinline__ constexpr Float16x2<E> __hneg2(Float16x2<E> a) {
  return -a;
}
template <int E>
__forceinline__ constexpr Float16x2<E> __habs2(Float16x2<E> a) {
  return {__habs(a.x), __habs(a.y)};
}
template <int E>
__forceinline__ constexpr Float16x2<E> __hisnan2(Float16x2<E> a) {
  return {__hisnan(a.x), __hisnan(a.y)};
}
template <int E>
__forceinline__ constexpr Float16x2<E> __lowhigh2highlow(Float16x2<E> a) {
  return {a.y, a.x};
}
template <int E>
__forceinline__ constexpr float __low2float(Float16x2<E> a) {
  return a.x;
}
template <int E>
__forceinline__ constexpr float __high2float(Float16x2<E> a) {
  return a.y;
}

#define GRADUS_FUNCTION(name, result)                     \
  template <int E>                                        \
  __forceinline__ Float16<E> h##name(Float16<E> a) {      \
    const double x = a.wide();                            \
    return result;                                        \
  }                                                       \
  template <int E>                                        \
  __forceinline__ Float16x2<E> h2##name(Float16x2<E> a) { \
    return {h##name(a.x), h##name(a.y)};                  \
  }
GRADUS_FLOAT16_FUNCTIONS(GRADUS_FUNCTION)
#undef GRADUS_FUNCTION

}  // namespace gradus::cuda::sim
