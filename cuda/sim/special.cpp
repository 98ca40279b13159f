#include <sim/special.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace gradus::cuda::sim {

namespace {
using Wide = long double;
constexpr Wide kPi = std::numbers::pi_v<Wide>, kRootPi = 1 / std::numbers::inv_sqrtpi_v<Wide>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Wide wide_norm(double a, double b, double c, double d) {
  if (std::isinf(a) || std::isinf(b) || std::isinf(c) || std::isinf(d)) return Wide{kInfinity};
  return std::sqrt(Wide{a} * a + Wide{b} * b + Wide{c} * c + Wide{d} * d);
}

// Winitzki's estimate of y where 1 - erf(y)^2 is `rest` ("A handy approximation for the error
// function and its inverse", 2008).
Wide estimate(Wide rest) {
  const Wide a = 0.147L, log = std::log(rest), t = 2 / (kPi * a) + log / 2;
  return std::sqrt(std::sqrt(t * t - log / a) - t);
}
}  // namespace

double sinpi(double x) noexcept {
  const double turn = std::remainder(x, 2.0);  // exact
  const double angle = std::fabs(turn) > 0.5 ? std::copysign(1.0, turn) - turn : turn;
  return angle == 0 ? std::copysign(0.0, x) : static_cast<double>(std::sin(kPi * Wide{angle}));
}
double cospi(double x) noexcept {
  const double turn = std::fabs(std::remainder(x, 2.0));
  return std::isnan(turn) ? turn : sinpi(0.5 - turn) + 0.0;  // never -0
}

double rcbrt(double x) { return static_cast<double>(1 / std::cbrt(Wide{x})); }
double norm(double a, double b, double c, double d) {
  return static_cast<double>(wide_norm(a, b, c, d));
}
double reciprocal_norm(double a, double b, double c, double d) {
  return static_cast<double>(1 / wide_norm(a, b, c, d));
}

double normcdf(double x) {
  return static_cast<double>(std::erfc(-Wide{x} / std::numbers::sqrt2_v<Wide>) / 2);
}

// exp(x^2) erfc(x)
double erfcx(double x) {
  const Wide wide = x, square = wide * wide;
  if (x < 50) return static_cast<double>(std::exp(square) * std::erfc(wide));
  const Wide t = 1 / (2 * square);  // the asymptotic series
  return static_cast<double>((1 - t * (1 - 3 * t * (1 - 5 * t * (1 - 7 * t)))) / (wide * kRootPi));
}

// By Newton's steps for log(erfc(y)), which erfc(y) itself is too curved for.
double erfcinv(double x) {
  if (!(x >= 0 && x <= 2)) return std::numeric_limits<double>::quiet_NaN();
  if (x > 1) return -erfcinv(2 - x);
  if (x == 0) return kInfinity;
  const Wide wide = x;
  Wide y = estimate(wide * (2 - wide));
  for (int step = 0; step < 4; ++step) {
    const Wide here = std::erfc(y);
    y += std::log(here / wide) * here * kRootPi / 2 * std::exp(y * y);
  }
  return static_cast<double>(y);
}

double erfinv(double x) {
  if (std::fabs(x) > 0.5) return std::copysign(erfcinv(1 - std::fabs(x)), x);  // exact so far
  const Wide wide = std::fabs(x);
  Wide y = wide == 0 ? 0 : estimate((1 - wide) * (1 + wide));
  for (int step = 0; step < 4; ++step) y -= (std::erf(y) - wide) * kRootPi / 2 * std::exp(y * y);
  return static_cast<double>(std::copysign(y, Wide{x}));
}

double bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }
double bessel_i1(double x) { return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x); }

}  // namespace gradus::cuda::sim
