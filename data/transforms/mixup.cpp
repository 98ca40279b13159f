// Mixing the examples of a batch.
#include "gradus/data/transforms/mixup.h"

#include <cmath>
#include <numbers>

#include "gradus/autograd/functions.h"
#include "gradus/data/transforms/random.h"

namespace gradus::data::transforms {

namespace {

double standard_normal() {
  const double radius = std::sqrt(-2 * std::log1p(-detail::uniform(0, 1)));
  return radius * std::cos(2 * std::numbers::pi * detail::uniform(0, 1));
}

// A number of the gamma distribution of this shape: Marsaglia and Tsang, "A simple method for
// generating gamma variables" (2000).
double standard_gamma(double shape) {
  if (shape < 1) {
    const double power = std::pow(1 - detail::uniform(0, 1), 1 / shape);
    return standard_gamma(shape + 1) * power;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = standard_normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root, u = 1 - detail::uniform(0, 1);
    if (std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

}  // namespace

double detail::beta(double alpha) {
  const double a = standard_gamma(alpha), b = standard_gamma(alpha);
  return a + b > 0 ? a / (a + b) : happens(0.5) ? 1 : 0;  // a tiny alpha: both are 0, to rounding
}

MixUp::MixUp(int64_t num_classes, double alpha) : num_classes_(num_classes), alpha_(alpha) {
  check(num_classes >= 1, "MixUp: num_classes = ", num_classes, ", expected 1 or more");
  check(alpha > 0, "MixUp: alpha = ", alpha, ", expected a positive number");
}

Example<> MixUp::operator()(Example<> batch) const {
  const Tensor &x = batch.data, &y = batch.target;
  check<TypeError>(x.is_floating_point(), "MixUp: the data are ", x.scalar_type(),
                   ", expected floating point; use to(kFloat) / 255 first");
  check(x.dim() > 0 && y.dim() > 0 && x.size(0) == y.size(0), "MixUp: the data have the shape ",
        x.sizes(), " and the targets ", y.sizes(),
        ", expected a batch with as many of both; map a Stack before it");
  const Tensor shares = y.is_floating_point() ? y : one_hot(y, num_classes_).to(kFloat);
  check(shares.dim() == 2 && shares.size(1) == num_classes_, "MixUp: the targets have the shape ",
        y.sizes(), ", expected classes (N) or shares (N, ", num_classes_, ")");
  const double lambda = detail::beta(alpha_);
  const auto mixed = [&](const Tensor& t) { return t.roll(1, 0) * (1 - lambda) + t * lambda; };
  return {mixed(x), mixed(shares)};
}

}  // namespace gradus::data::transforms
