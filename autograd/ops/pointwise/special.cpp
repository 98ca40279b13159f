// Functions of one tensor that are made of others: nan_to_num, logit, mvlgamma, frexp, and what
// real numbers leave of the functions of complex ones.
#include <cmath>
#include <numbers>

#include "gradus/autograd/engine/one_node.h"
#include "gradus/autograd/ops/pointwise/complex.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {
// The greatest number of a floating point type.
double greatest(ScalarType dtype) {
  switch (dtype) {
    case kHalf:
      return 65504;
    case kBFloat16:
      return 0x1.FEp127;
    case kFloat:
      return static_cast<double>(std::numeric_limits<float>::max());
    default:
      return std::numeric_limits<double>::max();
  }
}
}  // namespace

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  check<TypeError>(!self.is_complex(), "nan_to_num: not implemented for '", TypeName{self.dtype()},
                   "'; compute with real() and imag()");
  if (!self.is_floating_point()) return self.clone();
  const auto held = [&](double x) {  // which may be infinite then
    return visit(self.scalar_type(),
                 [x]<class T>(TypeTag<T>) { return Scalar(static_cast<T>(x)); });
  };
  const Scalar none = held(nan.value_or(0)), most = held(posinf.value_or(greatest(self.dtype()))),
               least = held(neginf.value_or(-greatest(self.dtype())));
  return one_node(
      "NanToNumBackward0", self,
      [&](const Tensor& x) {
        if (least.toDouble() == -most.toDouble())
          return raw::ternary(TernaryOp::nan_to_num, x, none, most);
        return where(isnan(x), none, where(isposinf(x), most, where(isneginf(x), least, x)));
      },
      [](const Tensor& grad, const Tensor& x) { return grad * isfinite(x); });
}

Tensor round(const Tensor& self, int64_t decimals) {
  if (decimals == 0) return round(self);
  self.operand("round");
  check<TypeError>(self.is_floating_point(), "round: dtype ", self.dtype(),
                   " has no decimals, and ", decimals, " were asked for; convert with .to(kFloat)");
  const double scale = std::pow(10.0, std::abs(decimals));
  return decimals > 0 ? round(self * scale) / scale : round(self / scale) * scale;
}

Tensor logit(const Tensor& self, std::optional<double> eps) {
  if (!eps) return logit(self);
  check<TypeError>(!self.is_complex(), "logit: not implemented for '", TypeName{self.dtype()},
                   "'; compute with real() and imag()");
  const Tensor x = self.is_floating_point() ? self : self.to(get_default_dtype());
  const double lo = *eps, hi = 1 - *eps;
  return one_wide_node(
      "LogitBackward0", x, [=](const Tensor& t) { return logit(clamp(t, lo, hi)); },
      [=](const Tensor& grad, const Tensor& t) {
        const Tensor outside = (t < lo).logical_or(t > hi);
        const Tensor safe = where(outside, Scalar(0.5), t);
        return where(outside, 0, grad / (safe * (1 - safe)));
      });
}

Tensor mvlgamma(const Tensor& self, int64_t p) {
  constexpr int64_t kMost = 1 << 16;  // each adds a term
  check(p >= 1 && p <= kMost, "mvlgamma: p is ", p, ", expected 1 to ", kMost,
        "; the sum has p terms, give fewer");
  check<TypeError>(!self.is_complex(), "mvlgamma: not implemented for '", TypeName{self.dtype()},
                   "'; compute with real() and imag()");
  const Tensor x = self.is_floating_point() ? self : self.to(get_default_dtype());
  // The sum of f(x - i / 2) for i < p.
  const auto sum = [p](Tensor (*f)(const Tensor&), const Tensor& t) {
    Tensor out = f(t);
    for (int64_t i = 1; i < p; ++i) out = out + f(t - static_cast<double>(i) / 2);
    return out;
  };
  const double constant = static_cast<double>(p * (p - 1)) / 4 * std::log(std::numbers::pi);
  return one_wide_node(
      "MvlgammaBackward0", x, [=](const Tensor& t) { return sum(lgamma, t) + constant; },
      [=](const Tensor& grad, const Tensor& t) { return grad * sum(digamma, t); });
}

Tensor ndtr(const Tensor& self) { return erfc(self * -std::sqrt(0.5)) / 2; }
Tensor spherical_bessel_j0(const Tensor& self) {
  return where(isinf(self), 0, sinc(self / std::numbers::pi));
}

TensorPair frexp(const Tensor& self) {
  self.operand("frexp");
  check<TypeError>(self.is_floating_point(), "frexp: self has dtype ", self.dtype(),
                   ", expected a floating point type; convert with .to(kFloat)");
  return {frexp_mantissa(self), without_graph([&] { return frexp_exponent(self).to(kInt); })};
}

Tensor angle(const Tensor& self) {
  if (self.operand("angle").is_complex()) return complex_angle(self);
  const Tensor x = self.is_floating_point() ? self : self.to(get_default_dtype());
  return one_node(
      "AngleBackward0", x,
      [](const Tensor& t) {
        return raw::ternary(TernaryOp::by_sign, t, Scalar(std::numbers::pi), Scalar(0));
      },
      [](const Tensor& grad, const Tensor&) { return zeros_like(grad); });
}

}  // namespace gradus
