// The special functions against values of more digits (tests/conformance/golden/make_special.py),
// at the bounds that tensor/math/special.h states.
#include "gradus/tensor/math/elementwise.h"
#include "tests/conformance/golden/golden.h"

#include <limits>

namespace gradus::test {
namespace {

const Golden& golden_special() {
  static const Golden read(recorded("golden/special.txt"));
  return read;
}

// The error of a result, in ulp of T of the expected number, or of scale where that is larger.
template <class T>
double ulps(double got, double expected, double scale) {
  if (static_cast<double>(static_cast<T>(expected)) == got) return 0;
  const double size = std::max(std::abs(expected), scale);
  const double normal = std::max(size, static_cast<double>(std::numeric_limits<T>::min()));
  const double ulp =
      std::ldexp(static_cast<double>(std::numeric_limits<T>::epsilon()), std::ilogb(normal));
  const double error = std::abs(got - expected) / ulp;
  EXPECT_FALSE(std::isnan(error)) << got << ", expected " << expected;
  return error;
}

// The largest error of f over the points that T holds; scale is a function of the point.
template <class T>
double error_of(
    const std::string& name, T (*f)(T), double (*scale)(double) = [](double) { return 0.0; }) {
  SCOPED_TRACE(name);
  double worst = -1;
  for (const GoldenCase& c : golden_special().cases) {
    if (c.text != name) continue;
    for (int64_t i = 0; i < c.expected.size(0); ++i) {
      const double x = c.expected[i][0].item<double>(), y = c.expected[i][1].item<double>();
      if (static_cast<double>(static_cast<T>(x)) != x) continue;
      const double got = static_cast<double>(f(static_cast<T>(x)));
      worst = std::max(worst, ulps<T>(got, y, scale(x)));
    }
  }
  EXPECT_GE(worst, 0) << "no points";
  return worst;
}
// The same of two numbers; scale is a function of both and of the expected result.
template <class T>
double error_of(const std::string& name, T (*f)(T, T), double (*scale)(double, double, double)) {
  SCOPED_TRACE(name);
  double worst = -1;
  for (const GoldenCase& c : golden_special().cases) {
    if (c.text != name) continue;
    for (int64_t i = 0; i < c.expected.size(0); ++i) {
      const auto number = [&](int64_t j) { return c.expected[i][j].item<double>(); };
      const double x = number(0), y = number(1), z = number(2);
      const double got = static_cast<double>(f(static_cast<T>(x), static_cast<T>(y)));
      worst = std::max(worst, ulps<T>(got, z, scale(x, y, z)));
    }
  }
  EXPECT_GE(worst, 0) << "no points";
  return worst;
}

template <class T>
class Special : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Special, Reals);

TYPED_TEST(Special, InverseErf) {
  EXPECT_LE(error_of<TypeParam>("erfinv", scalar::inverse_erf), 4);
}
TYPED_TEST(Special, LogGamma) {
  // Of the C library; next to the zeros below 0 it keeps its digits against 1.
  const auto scale = [](double x) { return x < 0 ? 1.0 : 0.0; };
  EXPECT_LE(error_of<TypeParam>("lgamma", scalar::log_gamma, scale), 8);
}
TYPED_TEST(Special, Digamma) {
  const auto scale = [](double x) {
    return std::max(1.0, x < 0 ? std::abs(M_PI / std::tan(M_PI * x)) : 0.0);
  };
  EXPECT_LE(error_of<TypeParam>("digamma", scalar::digamma_of, scale), 8);
}
TYPED_TEST(Special, Bessel) {
  EXPECT_LE(error_of<TypeParam>("i0", scalar::bessel_i<0>), 16);
  EXPECT_LE(error_of<TypeParam>("i1", scalar::bessel_i<1>), 16);
}

TYPED_TEST(Special, ScaledBessel) {
  using T = TypeParam;
  EXPECT_LE(error_of<T>("i0e", scalar::bessel_i<0, true>), 16);
  EXPECT_LE(error_of<T>("i1e", scalar::bessel_i<1, true>), 16);
}
TYPED_TEST(Special, BesselOfBothKinds) {
  using T = TypeParam;
  const auto swing = [](double x) { return x > 1 ? std::sqrt(2 / (M_PI * x)) : 0.0; };
  const auto even = [](double x) { return std::sqrt(2 / (M_PI * std::max(1.0, std::abs(x)))); };
  EXPECT_LE(error_of<T>("bessel_j0", scalar::bessel_j<0>, even), 8);
  EXPECT_LE(error_of<T>("bessel_j1", scalar::bessel_j<1>, swing), 8);
  EXPECT_LE(error_of<T>("bessel_y0", scalar::bessel_y<0>, even), 8);
  EXPECT_LE(error_of<T>("bessel_y1", scalar::bessel_y<1>, even), 8);
}
TYPED_TEST(Special, ModifiedBesselOfTheSecondKind) {
  using T = TypeParam;
  EXPECT_LE(error_of<T>("bessel_k0", scalar::bessel_k<0, false>), 16);
  EXPECT_LE(error_of<T>("bessel_k1", scalar::bessel_k<1, false>), 16);
  EXPECT_LE(error_of<T>("scaled_bessel_k0", scalar::bessel_k<0, true>), 16);
  EXPECT_LE(error_of<T>("scaled_bessel_k1", scalar::bessel_k<1, true>), 16);
}

TYPED_TEST(Special, NormalDistribution) {
  using T = TypeParam;
  const auto one = [](double) { return 1.0; };
  EXPECT_LE(error_of<T>("erfcx", scalar::scaled_erfc), 4);
  EXPECT_LE(error_of<T>("ndtri", scalar::normal_quantile), 4);
  EXPECT_LE(error_of<T>("log_ndtr", scalar::log_normal_share, one), 4);
}
TYPED_TEST(Special, Entropy) { EXPECT_LE(error_of<TypeParam>("entr", scalar::entropy_of), 4); }

TYPED_TEST(Special, HurwitzZeta) {
  const auto largest = [](double s, double q, double) {
    return q < 0 ? std::pow(std::abs(q - std::nearbyint(q)), -s) : 0;
  };
  EXPECT_LE(error_of<TypeParam>("zeta", scalar::hurwitz_zeta, largest), 16);
}

template <class T, bool upper>
T gamma_share_as(T a, T x) {
  return scalar::gamma_share(a, x, upper);
}
double share_scale(double share, bool computed) {
  return computed && share > 0 ? share * (1 - std::log(share)) : 1;
}
TYPED_TEST(Special, IncompleteGamma) {
  using T = TypeParam;
  EXPECT_LE(error_of<T>("igamma", gamma_share_as<T, false>,
                        [](double a, double x, double p) { return share_scale(p, x < a + 1); }),
            128);
  EXPECT_LE(error_of<T>("igammac", gamma_share_as<T, true>,
                        [](double a, double x, double p) { return share_scale(p, x >= a + 1); }),
            128);
}
// About a = 10^6 two formulas meet, and far beyond the distribution is a normal one.
TEST(SpecialOfLarge, IncompleteGamma) {
  for (const double offset : {-3.0, -0.5, 0.0, 0.25, 2.0}) {
    const auto share = [&](double a, bool upper) {
      return scalar::gamma_share(a, a + offset * std::sqrt(a), upper);
    };
    for (const bool upper : {false, true}) {
      EXPECT_NEAR(share(999999.9, upper), share(1000000.1, upper), 1e-10);
      EXPECT_NEAR(share(1e16, upper), std::erfc((upper ? offset : -offset) / M_SQRT2) / 2, 1e-8);
    }
  }
}

template <class T, int n>
T polygamma_as(T x) {
  return scalar::polygamma_of(x, T(n));
}
// Below 0 the terms of both sides cancel where n is even.
template <int n>
double polygamma_scale(double x) {
  const double nearest = x < 0 ? std::abs(x - std::nearbyint(x)) : 1;
  return x < 0 ? std::tgamma(n + 1) * std::pow(nearest, -n - 1) : 0;
}
TYPED_TEST(Special, Polygamma) {
  using T = TypeParam;
  EXPECT_LE(error_of<T>("polygamma1", polygamma_as<T, 1>, polygamma_scale<1>), 16);
  EXPECT_LE(error_of<T>("polygamma2", polygamma_as<T, 2>, polygamma_scale<2>), 16);
  EXPECT_LE(error_of<T>("polygamma3", polygamma_as<T, 3>, polygamma_scale<3>), 16);
  EXPECT_LE(error_of<T>("polygamma7", polygamma_as<T, 7>, polygamma_scale<7>), 16);
}

TYPED_TEST(Special, EdgesAreExact) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const auto is = [](T got, T expected) {
    return std::isnan(expected) ? std::isnan(got)
                                : got == expected && std::signbit(got) == std::signbit(expected);
  };
  EXPECT_TRUE(is(scalar::inverse_erf(T(1)), inf));
  EXPECT_TRUE(is(scalar::inverse_erf(T(-1)), -inf));
  EXPECT_TRUE(is(scalar::inverse_erf(T(-0.0)), T(-0.0)));
  for (T x : {T(1.0001), T(-2), inf, -inf, nan}) EXPECT_TRUE(is(scalar::inverse_erf(x), nan));

  for (T x : {T(0), T(-0.0), T(-1), T(-7), inf, -inf}) EXPECT_TRUE(is(scalar::log_gamma(x), inf));
  EXPECT_TRUE(is(scalar::log_gamma(T(1)), 0) && is(scalar::log_gamma(T(2)), 0));

  EXPECT_TRUE(is(scalar::digamma_of(T(0)), -inf));
  EXPECT_TRUE(is(scalar::digamma_of(T(-0.0)), inf));
  EXPECT_TRUE(is(scalar::digamma_of(inf), inf));
  for (T x : {T(-1), T(-12), T(-1e30), -inf, nan}) EXPECT_TRUE(is(scalar::digamma_of(x), nan));

  for (T x : {T(0), T(-0.0), T(-1), T(-1e30)}) {
    EXPECT_TRUE(is(scalar::polygamma_of(x, T(1)), inf));
    EXPECT_TRUE(is(scalar::polygamma_of(x, T(2)), -inf));
  }
  EXPECT_TRUE(is(scalar::polygamma_of(inf, T(1)), 0));
  for (T x : {-inf, nan}) EXPECT_TRUE(is(scalar::polygamma_of(x, T(1)), nan));
  for (T n : {T(-1), inf, nan}) EXPECT_TRUE(is(scalar::polygamma_of(T(1), n), nan));
  EXPECT_EQ(scalar::polygamma_of(T(3), T(0)), scalar::digamma_of(T(3)));

  EXPECT_TRUE(is(scalar::bessel_i<0>(T(0)), 1));
  EXPECT_TRUE(is(scalar::bessel_i<1>(T(-0.0)), T(-0.0)));
  EXPECT_TRUE(is(scalar::bessel_i<0>(T(-1000)), inf));
  EXPECT_TRUE(is(scalar::bessel_i<1>(T(-1000)), -inf));
  EXPECT_TRUE(is(scalar::bessel_i<0>(nan), nan));
  EXPECT_TRUE(is(scalar::sin_over(T(-0.0)), 1));

  EXPECT_TRUE(is((scalar::bessel_i<0, true>(inf)), 0));
  for (T x : {inf, -inf, nan}) {
    EXPECT_TRUE(is(scalar::bessel_j<0>(x), nan) && is(scalar::bessel_j<1>(x), nan));
    EXPECT_TRUE(is(scalar::bessel_y<0>(x), nan) && is(scalar::bessel_y<1>(x), nan));
  }
  EXPECT_TRUE(is(scalar::bessel_y<0>(T(0)), -inf) && is(scalar::bessel_y<1>(T(0)), -inf));
  EXPECT_TRUE(is(scalar::bessel_y<0>(T(-1)), nan));
  EXPECT_TRUE(is((scalar::bessel_k<0, true>(T(0))), inf));
  EXPECT_TRUE(is((scalar::bessel_k<1, false>(inf)), 0));
  EXPECT_TRUE(is((scalar::bessel_k<1, false>(T(-1))), nan));

  EXPECT_TRUE(is(scalar::scaled_erfc(inf), 0) && is(scalar::scaled_erfc(-inf), inf));
  EXPECT_TRUE(is(scalar::normal_quantile(T(0)), -inf) && is(scalar::normal_quantile(T(1)), inf));
  for (T x : {T(-0.1), T(1.1), nan}) EXPECT_TRUE(is(scalar::normal_quantile(x), nan));
  EXPECT_TRUE(is(scalar::log_normal_share(-inf), -inf));
  EXPECT_TRUE(is(scalar::entropy_of(T(0)), 0) && is(scalar::entropy_of(T(-1)), -inf));
  EXPECT_TRUE(is(scalar::entropy_of(nan), nan));

  EXPECT_TRUE(is(scalar::hurwitz_zeta(T(1), T(2)), inf));
  EXPECT_TRUE(is(scalar::hurwitz_zeta(T(0.5), T(2)), nan));
  EXPECT_TRUE(is(scalar::hurwitz_zeta(T(2), T(-3)), inf));
  EXPECT_TRUE(is(scalar::hurwitz_zeta(T(2.5), T(-1.5)), nan));

  const auto below = [](T a, T x) { return scalar::gamma_share(a, x, false); };
  for (T x : {T(-1), nan}) EXPECT_TRUE(is(below(x, T(1)), nan) && is(below(T(1), x), nan));
  EXPECT_TRUE(is(below(T(0), T(0)), nan) && is(below(inf, inf), nan));
  EXPECT_TRUE(is(below(T(0), T(1)), 1) && is(below(T(1), inf), 1));
  EXPECT_TRUE(is(below(T(1), T(0)), 0) && is(below(inf, T(1)), 0));

  // The continued fraction ends where each change is a rounding error.
  EXPECT_TRUE(is(below(T(1e-30), T(4.4979e30)), 1));
  EXPECT_TRUE(is(scalar::mantissa_of(-inf), -inf) && is(scalar::exponent_of(inf), 0));
  EXPECT_EQ(scalar::mantissa_of(std::numeric_limits<T>::denorm_min()), T(0.5));
  EXPECT_TRUE(is(scalar::sin_over(inf), nan));
}

}  // namespace
}  // namespace gradus::test
