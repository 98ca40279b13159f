// CUDA's functions of real numbers that the C library does not have. The quick ones are as exact
// here as the library's: a result on a device may differ by what CUDA's manual allows it.
#pragma once

#include <math.h>

#include <host_defines.h>

// Rounded once, to the nearest. Holds where the compiler contracts no a * b + c: on a target with
// fused multiply-add that takes -ffp-contract=off.
__forceinline__ float __fadd_rn(float x, float y) { return x + y; }
__forceinline__ float __fsub_rn(float x, float y) { return x - y; }
__forceinline__ float __fmul_rn(float x, float y) { return x * y; }
__forceinline__ float __fdiv_rn(float x, float y) { return x / y; }
__forceinline__ float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
__forceinline__ float __fsqrt_rn(float x) { return sqrtf(x); }
__forceinline__ float __frcp_rn(float x) { return 1 / x; }
// The quotient in double is near enough to a tie for no float: all significands were tried.
__forceinline__ float __frsqrt_rn(float x) {
  return static_cast<float>(1 / ::sqrt(static_cast<double>(x)));
}

__forceinline__ double __dadd_rn(double x, double y) { return x + y; }
__forceinline__ double __dsub_rn(double x, double y) { return x - y; }
__forceinline__ double __dmul_rn(double x, double y) { return x * y; }
__forceinline__ double __ddiv_rn(double x, double y) { return x / y; }
__forceinline__ double __fma_rn(double x, double y, double z) { return ::fma(x, y, z); }
__forceinline__ double __dsqrt_rn(double x) { return ::sqrt(x); }
__forceinline__ double __drcp_rn(double x) { return 1 / x; }

__forceinline__ float fdividef(float x, float y) { return x / y; }
__forceinline__ float __fdividef(float x, float y) { return x / y; }
__forceinline__ float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }  // NaN is 0

// The C library may declare names like these for itself, hence its linkage and noexcept.
extern "C" {
__forceinline__ float rsqrtf(float x) noexcept { return __frsqrt_rn(x); }
__forceinline__ double rsqrt(double x) noexcept { return 1 / ::sqrt(x); }
__forceinline__ float __expf(float x) noexcept { return expf(x); }
__forceinline__ float __exp10f(float x) noexcept { return exp10f(x); }
__forceinline__ float __logf(float x) noexcept { return logf(x); }
__forceinline__ float __log2f(float x) noexcept { return log2f(x); }
__forceinline__ float __log10f(float x) noexcept { return log10f(x); }
__forceinline__ float __sinf(float x) noexcept { return sinf(x); }
__forceinline__ float __cosf(float x) noexcept { return cosf(x); }
__forceinline__ float __tanf(float x) noexcept { return tanf(x); }
__forceinline__ float __tanhf(float x) noexcept { return tanhf(x); }
__forceinline__ float __powf(float x, float y) noexcept { return powf(x, y); }
__forceinline__ void __sincosf(float x, float* sine, float* cosine) noexcept {
  *sine = sinf(x);
  *cosine = cosf(x);
}
}

__forceinline__ float rsqrt(float x) { return rsqrtf(x); }
__forceinline__ float exp10(float x) { return exp10f(x); }
