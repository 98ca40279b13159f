// Functions of CUDA that the C++ library lacks: erfinv, normcdf, rcbrt, sinpi.
#include <sim/special.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace gradus::cuda::sim {

namespace {
using Wide = long double;
Wide wide(double x) { return static_cast<Wide>(x); }
constexpr Wide kPi = std::numbers::pi_v<Wide>, kRootPi = 1 / std::numbers::inv_sqrtpi_v<Wide>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Wide wide_norm(double a, double b, double c, double d) {
  if (std::isinf(a) || std::isinf(b) || std::isinf(c) || std::isinf(d)) return wide(kInfinity);
  return std::sqrt(wide(a) * wide(a) + wide(b) * wide(b) + wide(c) * wide(c) + wide(d) * wide(d));
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
  return angle == 0 ? std::copysign(0.0, x) : static_cast<double>(std::sin(kPi * wide(angle)));
}
double cospi(double x) noexcept {
  const double turn = std::fabs(std::remainder(x, 2.0));
  return std::isnan(turn) ? turn : sinpi(0.5 - turn) + 0.0;  // never -0
}

double rcbrt(double x) { return static_cast<double>(1 / std::cbrt(wide(x))); }
double norm(double a, double b, double c, double d) {
  return static_cast<double>(wide_norm(a, b, c, d));
}
double reciprocal_norm(double a, double b, double c, double d) {
  return static_cast<double>(1 / wide_norm(a, b, c, d));
}

double normcdf(double x) {
  return static_cast<double>(std::erfc(-wide(x) / std::numbers::sqrt2_v<Wide>) / 2);
}

// exp(x^2) erfc(x)
double erfcx(double x) {
  const Wide z = wide(x), square = z * z;
  if (x < 50) return static_cast<double>(std::exp(square) * std::erfc(z));
  const Wide t = 1 / (2 * square);  // the asymptotic series
  return static_cast<double>((1 - t * (1 - 3 * t * (1 - 5 * t * (1 - 7 * t)))) / (z * kRootPi));
}

// Newton's steps for log(erfc(y)); erfc(y) itself is too curved for them.
double erfcinv(double x) {
  if (!(x >= 0 && x <= 2)) return std::numeric_limits<double>::quiet_NaN();
  if (x > 1) return -erfcinv(2 - x);
  if (x == 0) return kInfinity;
  const Wide z = wide(x);
  Wide y = estimate(z * (2 - z));
  for (int step = 0; step < 4; ++step) {
    const Wide value = std::erfc(y);
    y += std::log(value / z) * value * kRootPi / 2 * std::exp(y * y);
  }
  return static_cast<double>(y);
}

double erfinv(double x) {
  if (std::fabs(x) > 0.5) return std::copysign(erfcinv(1 - std::fabs(x)), x);  // exact so far
  const Wide z = wide(std::fabs(x));
  Wide y = z == 0 ? 0 : estimate((1 - z) * (1 + z));
  for (int step = 0; step < 4; ++step) y -= (std::erf(y) - z) * kRootPi / 2 * std::exp(y * y);
  return static_cast<double>(std::copysign(y, wide(x)));
}

double bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }
double bessel_i1(double x) { return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x); }

}  // namespace gradus::cuda::sim
