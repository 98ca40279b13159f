// The special functions against values of more digits (tests/golden/make_special.py), at the bounds
// that tensor/special.h states.
#include "gradus/tensor/elementwise.h"
#include "tests/golden/golden.h"

#include <limits>

namespace gradus::test {
namespace {

const Golden& golden() {
  static const Golden read(
#include "tests/golden/special.inc"
  );
  return read;
}

// The largest error of f over the points that T holds, in ulp of the expected number, or of
// scale(x) where that is larger.
template <class T>
double error_of(
    const std::string& name, T (*f)(T), double (*scale)(double) = [](double) { return 0.0; }) {
  double worst = 0;
  for (const GoldenCase& c : golden().cases) {
    if (c.text != name) continue;
    for (int64_t i = 0; i < c.expected.size(0); ++i) {
      const double x = c.expected[i][0].item<double>(), y = c.expected[i][1].item<double>();
      if (static_cast<double>(static_cast<T>(x)) != x) continue;
      const double got = static_cast<double>(f(static_cast<T>(x)));
      if (static_cast<double>(static_cast<T>(y)) == got) continue;
      const double size = std::max(std::abs(y), scale(x));
      const double normal = std::max(size, static_cast<double>(std::numeric_limits<T>::min()));
      const double ulp =
          std::ldexp(static_cast<double>(std::numeric_limits<T>::epsilon()), std::ilogb(normal));
      const double error = std::abs(got - y) / ulp;
      EXPECT_FALSE(std::isnan(error)) << name << "(" << x << ") is " << got << ", expected " << y;
      worst = std::max(worst, error);
    }
  }
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
  EXPECT_TRUE(is(scalar::sin_over(inf), nan));
}

}  // namespace
}  // namespace gradus::test
