// dropout, alpha_dropout and their feature_ forms, which leave out whole channels.
#include <cmath>

#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/autograd/ops/dropout.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

Tensor thinned(const Tensor& x, double p, PhiloxState state) {
  const Tensor out = raw::empty_like(x);
  raw::random_map(RandomMap::dropout, p, state, x, out);
  if (recording(x))
    record("NativeDropoutBackward0", out, {x}, {},
           [=](Node&, const Tensor& grad) { return Tensors{thinned(grad, p, state)}; });
  return out;
}

namespace {

bool changes(const char* name, const Tensor& x, double p, bool train) {
  x.operand(name);
  check(p >= 0 && p <= 1, name, ": p is ", p, "; give a probability, between 0 and 1");
  const bool out = train && p != 0 && x.numel() != 0;
  check<TypeError>(!out || x.is_floating_point(), name, ": dtype ", x.dtype(),
                   " is not a floating point type; convert with .to(kFloat)");
  return out;
}

PhiloxState state_for(const Tensor& x) { return raw::take({}, x.device(), x.numel()); }

// The noise turns x into x * factor, plus shift where there is one. Nothing: x stays as it is.
struct Noise {
  Tensor factor, shift;
};

struct Kind {
  const char* name;
  bool of_channels, keeps_moments;
};
constexpr Kind kFeature{"feature_dropout", true, false}, kAlpha{"alpha_dropout", false, true},
    kFeatureAlpha{"feature_alpha_dropout", true, true};

std::optional<Noise> draw(const Kind& kind, const Tensor& x, double p, bool train) {
  if (!changes(kind.name, x, p, train)) return std::nullopt;
  Dims shape = x.impl().sizes;
  if (kind.of_channels) {
    check(x.dim() >= 2, kind.name, ": the tensor has shape ", x.sizes(),
          ", expected at least 2 dimensions: the batch and its channels; unsqueeze it");
    for (int64_t d = 2; d < x.dim(); ++d) shape[d] = 1;
  }
  NoGradGuard guard;
  const Tensor all = ones(shape, TensorOptions(computed_type(x.dtype())).device(x.device()));
  if (p == 1) return Noise{all.zero_().to(x.dtype()), {}};
  const Tensor kept = thinned(all, p, state_for(all));  // 0 or 1 / (1 - p)
  if (!kind.keeps_moments) return Noise{kept.to(x.dtype()), {}};
  // Elements left out take the value that selu approaches at -infinity. Scale and shift keep mean 0
  // and variance 1.
  constexpr double limit = 1.7580993408473766;
  const double scale = 1 / std::sqrt((limit * limit * p + 1) * (1 - p));
  return Noise{(kept * (scale * (1 - p))).to(x.dtype()),
               ((kept - 1) * ((1 - p) * limit * scale)).to(x.dtype())};
}

Tensor apply(const Kind& kind, const Tensor& x, double p, bool train) {
  const auto noise = draw(kind, x, p, train);
  if (!noise) return x;
  const Tensor y = x * noise->factor;
  return noise->shift.defined() ? y + noise->shift : y;
}

Tensor& apply_(const Kind& kind, const Tensor& x, double p, bool train) {
  // The check comes before the generator advances.
  if (changes(kind.name, x, p, train)) check_in_place(kind.name, x, recording(x));
  const auto noise = draw(kind, x, p, train);
  if (!noise) return x.handle();
  x.mul_(noise->factor);
  return noise->shift.defined() ? x.add_(noise->shift) : x.handle();
}

}  // namespace

Tensor dropout(const Tensor& self, double p, bool train) {
  return changes("dropout", self, p, train) ? thinned(self, p, state_for(self)) : self;
}
Tensor feature_dropout(const Tensor& self, double p, bool train) {
  return apply(kFeature, self, p, train);
}
Tensor alpha_dropout(const Tensor& self, double p, bool train) {
  return apply(kAlpha, self, p, train);
}
Tensor feature_alpha_dropout(const Tensor& self, double p, bool train) {
  return apply(kFeatureAlpha, self, p, train);
}

Tensor& Tensor::dropout_(double p, bool train) const {
  if (!changes("dropout", *this, p, train)) return handle();
  check_in_place("dropout", *this, recording(*this));  // before the generator advances
  const PhiloxState state = state_for(*this);
  return in_place(
      "dropout", *this, recording(*this),
      [&](const Tensor& x) { raw::random_map(RandomMap::dropout, p, state, x, x); },
      [&](const Tensor& old) { return thinned(old, p, state); });
}
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
