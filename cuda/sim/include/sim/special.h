// CUDA's special functions that the C library does not have. All are computed with more digits than
// the result has.
#pragma once

#include <math.h>

#include <host_defines.h>

namespace gradus::cuda::sim {
double sinpi(double x) noexcept;
double cospi(double x) noexcept;
double rcbrt(double x);
double norm(double a, double b, double c, double d);
double reciprocal_norm(double a, double b, double c, double d);
double normcdf(double x);
double erfcx(double x);
double erfinv(double x);
double erfcinv(double x);
double bessel_i0(double x);
double bessel_i1(double x);
}  // namespace gradus::cuda::sim

// A function of double, one of float, and the overload for float.
#define GRADUS_SPECIAL(name, value)                                          \
  __forceinline__ double name(double x) { return gradus::cuda::sim::value; } \
  __forceinline__ float name##f(float number) {                              \
    const double x = static_cast<double>(number);                            \
    return static_cast<float>(gradus::cuda::sim::value);                     \
  }                                                                          \
  __forceinline__ float name(float x) { return name##f(x); }
GRADUS_SPECIAL(rcbrt, rcbrt(x))
GRADUS_SPECIAL(normcdf, normcdf(x))
GRADUS_SPECIAL(normcdfinv, erfcinv(2 * x) * -1.4142135623730950488)
GRADUS_SPECIAL(erfcx, erfcx(x))
GRADUS_SPECIAL(erfinv, erfinv(x))
GRADUS_SPECIAL(erfcinv, erfcinv(x))
GRADUS_SPECIAL(cyl_bessel_i0, bessel_i0(x))
GRADUS_SPECIAL(cyl_bessel_i1, bessel_i1(x))
#undef GRADUS_SPECIAL

// The C library may have names like these, hence its linkage and noexcept.
extern "C" {
__forceinline__ double sinpi(double x) noexcept { return gradus::cuda::sim::sinpi(x); }
__forceinline__ double cospi(double x) noexcept { return gradus::cuda::sim::cospi(x); }
__forceinline__ float sinpif(float x) noexcept {
  return static_cast<float>(::sinpi(static_cast<double>(x)));
}
__forceinline__ float cospif(float x) noexcept {
  return static_cast<float>(::cospi(static_cast<double>(x)));
}
}
__forceinline__ float sinpi(float x) { return sinpif(x); }
__forceinline__ float cospi(float x) { return cospif(x); }
__forceinline__ void sincospi(double x, double* sine, double* cosine) {
  *sine = ::sinpi(x);
  *cosine = ::cospi(x);
}
__forceinline__ void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}

// The square root of a sum of squares, and its reciprocal.
#define GRADUS_NORM(name, value)                                                           \
  __forceinline__ double name##3d(double a, double b, double c) {                          \
    return gradus::cuda::sim::value(a, b, c, 0);                                           \
  }                                                                                        \
  __forceinline__ double name##4d(double a, double b, double c, double d) {                \
    return gradus::cuda::sim::value(a, b, c, d);                                           \
  }                                                                                        \
  __forceinline__ float name##3df(float a, float b, float c) {                             \
    return static_cast<float>(                                                             \
        name##3d(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c))); \
  }                                                                                        \
  __forceinline__ float name##4df(float a, float b, float c, float d) {                    \
    return static_cast<float>(name##4d(static_cast<double>(a), static_cast<double>(b),     \
                                       static_cast<double>(c), static_cast<double>(d)));   \
  }
GRADUS_NORM(norm, norm)
GRADUS_NORM(rnorm, reciprocal_norm)
#undef GRADUS_NORM
__forceinline__ double rhypot(double x, double y) { return rnorm3d(x, y, 0); }
__forceinline__ float rhypotf(float x, float y) { return rnorm3df(x, y, 0); }
