// Elements, or whole channels, left out at random.
#include <cmath>

#include "gradus/autograd/functions.h"
#include "gradus/autograd/grad_mode.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

// What x becomes: x * factor, and plus shift where there is one. Nothing: x stays as it is.
struct Noise {
  Tensor factor, shift;
};

struct Kind {
  const char* name;
  bool of_channels, keeps_moments;
};
constexpr Kind kDropout{"dropout", false, false}, kFeature{"feature_dropout", true, false},
    kAlpha{"alpha_dropout", false, true}, kFeatureAlpha{"feature_alpha_dropout", true, true};

std::optional<Noise> draw(const Kind& kind, const Tensor& x, double p, bool train) {
  check(p >= 0 && p <= 1, kind.name, ": p is ", p, ", expected a probability, between 0 and 1");
  if (!train || p == 0 || x.numel() == 0) return std::nullopt;
  check<TypeError>(x.is_floating_point(), kind.name, ": dtype ", x.dtype(),
                   " is not a floating point type; convert with .to(kFloat)");
  Dims shape = x.impl().sizes;
  if (kind.of_channels) {
    check(x.dim() >= 2, kind.name, ": the tensor has shape ", x.sizes(),
          ", expected at least 2 dimensions: the batch and its channels");
    for (int64_t d = 2; d < x.dim(); ++d) shape[d] = 1;
  }
  NoGradGuard guard;
  const auto options = TensorOptions(computed_type(x.dtype())).device(x.device());
  if (p == 1) return Noise{zeros(shape, options).to(x.dtype()), {}};
  const Tensor kept = (rand(shape, options) >= p).to(options.dtype());
  if (!kind.keeps_moments) return Noise{(kept / (1 - p)).to(x.dtype()), {}};
  // What is left out takes the value that selu approaches at -infinity; scaled and shifted so that
  // mean 0 and variance 1 stay as they are.
  constexpr double limit = 1.7580993408473766;
  const double scale = 1 / std::sqrt((limit * limit * p + 1) * (1 - p));
  return Noise{(kept * scale).to(x.dtype()), ((p - (1 - kept)) * (limit * scale)).to(x.dtype())};
}

Tensor apply(const Kind& kind, const Tensor& x, double p, bool train) {
  const auto noise = draw(kind, x, p, train);
  if (!noise) return x;
  const Tensor y = x * noise->factor;
  return noise->shift.defined() ? y + noise->shift : y;
}

Tensor& apply_(const Kind& kind, const Tensor& x, double p, bool train) {
  const auto noise = draw(kind, x, p, train);
  if (!noise) return x.handle();
  x.mul_(noise->factor);
  return noise->shift.defined() ? x.add_(noise->shift) : x.handle();
}

}  // namespace

Tensor dropout(const Tensor& self, double p, bool train) { return apply(kDropout, self, p, train); }
Tensor feature_dropout(const Tensor& self, double p, bool train) {
  return apply(kFeature, self, p, train);
}
Tensor alpha_dropout(const Tensor& self, double p, bool train) {
  return apply(kAlpha, self, p, train);
}
Tensor feature_alpha_dropout(const Tensor& self, double p, bool train) {
  return apply(kFeatureAlpha, self, p, train);
}

Tensor& Tensor::dropout_(double p, bool train) const { return apply_(kDropout, *this, p, train); }
Tensor& Tensor::feature_dropout_(double p, bool train) const {
  return apply_(kFeature, *this, p, train);
}
Tensor& Tensor::alpha_dropout_(double p, bool train) const {
  return apply_(kAlpha, *this, p, train);
}
Tensor& Tensor::feature_alpha_dropout_(double p, bool train) const {
  return apply_(kFeatureAlpha, *this, p, train);
}

}  // namespace gradus
