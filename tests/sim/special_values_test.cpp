// Special functions and directed rounding, against references by other methods.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <device_functions.h>
#include <gtest/gtest.h>
#include <math_constants.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/random.h"

namespace gradus {
namespace {

using test::real, test::rng;

// To a few ulps of double, and to half an ulp or so of float.
#define EXPECT_VALUE(name, x, expected)                                  \
  EXPECT_NEAR(name(x) / (expected), 1, 4e-15) << #name << " of " << (x); \
  EXPECT_NEAR(static_cast<double>(name##f(static_cast<float>(x))) / (expected), 1, 1e-6) << (x)

TEST(SimSpecial, KnownValues) {
  // The arguments are floats, so that both variants have the same.
  EXPECT_VALUE(rcbrt, 8.0, 0.5);
  EXPECT_VALUE(rcbrt, -0.001953125, -8.0);
  EXPECT_VALUE(sinpi, 0.25, std::sqrt(0.5));
  EXPECT_VALUE(sinpi, 1048576.5, 1.0);
  EXPECT_VALUE(cospi, 0.75, -std::sqrt(0.5));
  EXPECT_VALUE(cospi, 1.0, -1.0);
  EXPECT_VALUE(normcdf, 1.0, 0.84134474606854293);
  EXPECT_VALUE(normcdf, -4.0, 3.1671241833119921e-5);
  EXPECT_VALUE(normcdfinv, 0.25, -0.67448975019608174);
  EXPECT_VALUE(normcdfinv, 0.0009765625, -3.0972690781987845);
  EXPECT_VALUE(erfinv, 0.5, 0.47693627620446987);
  EXPECT_VALUE(erfinv, -0.75, -0.81341984759761854);
  EXPECT_VALUE(erfcinv, 0.5, 0.47693627620446987);
  EXPECT_VALUE(erfcinv, 1.5, -0.47693627620446987);
  EXPECT_VALUE(erfcx, 1.0, 0.42758357615580700);
  EXPECT_VALUE(erfcx, -2.0, 108.94090438997797);
  EXPECT_VALUE(erfcx, 10.0, 0.056140992743822585);
  EXPECT_VALUE(erfcx, 1000.0, 5.6418930145338765e-4);
  EXPECT_VALUE(cyl_bessel_i0, 1.0, 1.2660658777520084);
  EXPECT_VALUE(cyl_bessel_i0, -3.0, 4.8807925858650245);
  EXPECT_VALUE(cyl_bessel_i1, 1.0, 0.56515910399248503);
  EXPECT_VALUE(cyl_bessel_i1, -3.0, -3.9533702174026094);
}

TEST(SimSpecial, Limits) {
  EXPECT_EQ(sinpi(3.0), 0);
  EXPECT_EQ(cospi(2.5), 0);
  EXPECT_EQ(sinpif(1e6f), 0);
  EXPECT_TRUE(std::isnan(sinpi(CUDART_INF)));
  EXPECT_TRUE(std::isnan(cospi(CUDART_INF)));
  EXPECT_EQ(normcdfinv(0.0), -CUDART_INF);
  EXPECT_EQ(normcdfinv(1.0), CUDART_INF);
  EXPECT_EQ(erfinv(-1.0), -CUDART_INF);
  EXPECT_EQ(erfcinv(2.0), -CUDART_INF);
  EXPECT_TRUE(std::isnan(erfcinv(2.5)));
  EXPECT_TRUE(std::isnan(erfinv(1.5)));
  EXPECT_EQ(erfcx(-30.0), CUDART_INF);
  EXPECT_EQ(norm3d(CUDART_INF, CUDART_NAN, 0), CUDART_INF);
  EXPECT_EQ(norm3d(3e300, 4e300, 0), 5e300);
  EXPECT_EQ(rcbrt(0.0), CUDART_INF);
}

TEST(SimSpecial, InversesAndIdentities) {
  for (int round = 0; round < 300; ++round) {
    const double p = std::exp(real(-300, -1));
    const double x = erfcinv(p);
    ASSERT_NEAR(std::log(std::erfc(x)) / std::log(p), 1, 1e-14) << p;
    const double y = real(-0.999, 0.999);
    ASSERT_NEAR(std::erf(erfinv(y)), y, 1e-15) << y;
    const double z = real(0.1, 5);
    ASSERT_NEAR(erfcx(z) * std::exp(-z * z) / std::erfc(z), 1, 1e-13) << z;
    const double angle = real(-2, 2);
    double sine, cosine;
    sincospi(angle, &sine, &cosine);
    ASSERT_NEAR(sine, std::sin(CUDART_PI * angle), 1e-14);
    ASSERT_NEAR(cosine, std::cos(CUDART_PI * angle), 1e-14);
    float sinef, cosinef;
    sincospif(static_cast<float>(angle), &sinef, &cosinef);
    ASSERT_NEAR(sinef, sine, 2e-6);
    ASSERT_NEAR(cosinef, cosine, 2e-6);
    const double a = real(-9, 9), b = real(-9, 9), c = real(-9, 9), d = real(-9, 9);
    ASSERT_NEAR(norm4d(a, b, c, d), std::sqrt(a * a + b * b + c * c + d * d), 1e-13);
    ASSERT_NEAR(rnorm3d(a, b, c) * std::hypot(a, b, c), 1, 1e-14);
    ASSERT_NEAR(rhypot(a, b) * std::hypot(a, b), 1, 1e-14);
    const auto f = [](double value) { return static_cast<float>(value); };
    ASSERT_NEAR(norm3df(f(a), f(b), f(c)), f(std::hypot(a, b, c)), 3e-6f);
    ASSERT_NEAR(rnorm4df(f(a), f(b), f(c), f(d)) * norm4df(f(a), f(b), f(c), f(d)), 1, 1e-6f);
    ASSERT_NEAR(rhypotf(f(a), f(b)) * std::hypot(f(a), f(b)), 1, 1e-6f);
  }
}

// --- Rounding. The exact result lies between down and up, which are neighbours or equal.
template <class T>
T above(T x) {
  return std::nextafter(x, std::numeric_limits<T>::infinity());
}
template <class T>
::testing::AssertionResult surround(T zero, T up, T down, long double exact) {
  const bool good = static_cast<long double>(down) <= exact &&
                    exact <= static_cast<long double>(up) && (up == down || up == above(down)) &&
                    zero == (exact < 0 ? up : down);
  if (good) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << down << " " << zero << " " << up;
}
#define EXPECT_AROUND(exact, name, ...) \
  ASSERT_TRUE(                          \
      surround(name##_rz(__VA_ARGS__), name##_ru(__VA_ARGS__), name##_rd(__VA_ARGS__), exact))

TEST(SimRounding, SurroundsTheExactResult) {
  for (int round = 0; round < 1000; ++round) {
    const double wide = real(-1000, 1000);
    const float x = static_cast<float>(wide), y = static_cast<float>(real(-10, 10)),
                z = static_cast<float>(real(-10, 10)), p = std::fabs(x);
    // 64 binary digits are enough here.
    const auto exact = [](auto value) { return static_cast<long double>(value); };
    EXPECT_AROUND(exact(x) + exact(y), __fadd, x, y);
    EXPECT_AROUND(exact(x) - exact(y), __fsub, x, y);
    EXPECT_AROUND(exact(x) * exact(y), __fmul, x, y);
    EXPECT_AROUND(exact(x) / exact(y), __fdiv, x, y);
    EXPECT_AROUND(exact(x) * exact(y) + exact(z), __fmaf, x, y, z);
    EXPECT_AROUND(1 / exact(x), __frcp, x);
    EXPECT_AROUND(std::sqrt(exact(p)), __fsqrt, p);
    EXPECT_AROUND(exact(wide), __double2float, wide);
    const auto bits = static_cast<long long>(rng()());
    const auto count = static_cast<unsigned long long>(bits);
    EXPECT_AROUND(exact(bits), __ll2float, bits);
    EXPECT_AROUND(exact(bits), __ll2double, bits);
    EXPECT_AROUND(exact(count), __ull2float, count);
    EXPECT_AROUND(exact(count), __ull2double, count);
    EXPECT_AROUND(exact(static_cast<int>(bits)), __int2float, static_cast<int>(bits));
    EXPECT_AROUND(exact(static_cast<unsigned>(bits)), __uint2float, static_cast<unsigned>(bits));
    const double u = real(-10, 10), v = real(-10, 10);
    EXPECT_AROUND(exact(u) + exact(v), __dadd, u, v);
    EXPECT_AROUND(exact(u) / exact(v), __ddiv, u, v);
  }
}

TEST(SimRounding, KnownValues) {
  EXPECT_EQ(__fadd_rz(1.0f, 0x1p-30f), 1.0f);
  EXPECT_EQ(__fadd_ru(1.0f, 0x1p-30f), 1 + 0x1p-23f);
  EXPECT_EQ(__fadd_rd(-1.0f, -0x1p-30f), -1 - 0x1p-23f);
  EXPECT_EQ(__dmul_ru(1 + 0x1p-52, 1 + 0x1p-52), 1 + 0x1p-51 + 0x1p-52);
  EXPECT_EQ(__dmul_rd(1 + 0x1p-52, 1 + 0x1p-52), 1 + 0x1p-51);
  EXPECT_EQ(__dsub_rz(1.0, 0x1p-80), 1 - 0x1p-53);
  EXPECT_EQ(__drcp_rd(3.0), 0x1.5555555555555p-2);
  EXPECT_EQ(__drcp_ru(3.0), 0x1.5555555555556p-2);
  EXPECT_EQ(__dsqrt_ru(2.0), 0x1.6a09e667f3bcdp+0);
  EXPECT_EQ(__dsqrt_rd(2.0), 0x1.6a09e667f3bccp+0);
  EXPECT_EQ(__fma_rz(1 + 0x1p-52, 1 + 0x1p-52, -1.0), 0x1p-51);
  EXPECT_EQ(__fma_ru(1 + 0x1p-52, 1 + 0x1p-52, -1.0), 0x1p-51 + 0x1p-103);
  EXPECT_EQ(1.0f + 0x1p-30f, 1.0f);  // the mode is as before
}

template <class Half>
void expect_surrounding(float x, Half zero, Half up, Half down) {
  const float low = static_cast<float>(down), high = static_cast<float>(up);
  ASSERT_LE(low, x);
  ASSERT_GE(high, x);
  ASSERT_EQ(static_cast<float>(zero), x < 0 ? high : low);
  // Nothing lies between: the nearest is one of the two.
  const float nearest = static_cast<float>(Half(x));
  ASSERT_TRUE(nearest == low || nearest == high) << x;
}

TEST(SimRounding, OfNumbersOf16Bits) {
  for (int round = 0; round < 1000; ++round) {
    const float x = static_cast<float>(real(-1, 1) * std::exp2(real(-26, 15)));
    expect_surrounding(x, __float2half_rz(x), __float2half_ru(x), __float2half_rd(x));
    expect_surrounding(x, __float2bfloat16_rz(x), __float2bfloat16_ru(x), __float2bfloat16_rd(x));
  }
  const auto bits = [](half x) { return __half_as_ushort(x); };
  EXPECT_EQ(bits(__float2half_rz(1e6f)), 0x7bff);  // the largest
  EXPECT_EQ(bits(__float2half_ru(1e6f)), 0x7c00);  // infinity
  EXPECT_EQ(bits(__float2half_rd(-1e6f)), 0xfc00);
  EXPECT_EQ(bits(__float2half_ru(1e-10f)), 0x0001);
  EXPECT_EQ(bits(__float2half_rd(-1e-10f)), 0x8001);
  EXPECT_EQ(bits(__float2half_rd(0.0f)), 0);
  EXPECT_TRUE(__hisnan(__float2half_ru(CUDART_NAN_F)));
  EXPECT_EQ(static_cast<float>(__int2half_rz(2051)), 2050.0f);
  EXPECT_EQ(static_cast<float>(__int2half_ru(2049)), 2050.0f);
  EXPECT_EQ(static_cast<float>(__int2half_rd(-2049)), -2050.0f);
  EXPECT_EQ(static_cast<float>(__ll2bfloat16_rd((1ll << 62) + 1)), 0x1p62f);
  EXPECT_EQ(static_cast<float>(__ll2bfloat16_ru((1ll << 62) + 1)), 0x1p62f + 0x1p55f);
  EXPECT_EQ(static_cast<float>(__ull2half_rz(65535)), 65504.0f);
}

TEST(SimIntegers, DotProductsAndExtremes) {
  EXPECT_EQ(__dp4a(0x04030201, 0x01010101, 100), 110);
  EXPECT_EQ(__dp4a(static_cast<int>(0xff0000ff), 0x02000003, 0), -5);  // bytes have a sign
  EXPECT_EQ(__dp4a(0xff0000ffu, 0x02000003u, 0u), 255u * 5);
  EXPECT_EQ(__dp4a(make_char4(1, -2, 3, -4), make_char4(5, 6, 7, 8), 0), 5 - 12 + 21 - 32);
  EXPECT_EQ(umin(1u, ~0u), 1u);
  EXPECT_EQ(umax(1u, ~0u), ~0u);
  EXPECT_EQ(llmin(-1ll << 40, 1), -1ll << 40);
  EXPECT_EQ(llmax(-1ll << 40, 1), 1);
  EXPECT_EQ(ullmin(1ull << 63, 1), 1u);
  EXPECT_EQ(ullmax(1ull << 63, 1), 1ull << 63);
}

}  // namespace
}  // namespace gradus
