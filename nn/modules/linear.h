// Linear: y = x W^T + b.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

struct LinearOptions {
  GRADUS_OPTIONS(LinearOptions, ARGUMENT(int64_t, in_features), ARGUMENT(int64_t, out_features),
                 OPTION(bool, bias, true));
};

namespace functional {
inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}) {
  return gradus::linear(input, weight, bias);
}
}  // namespace functional

// Input (..., in_features), output (..., out_features); weight (out_features, in_features) and bias
// (out_features) start uniform in +-1/sqrt(in_features), as in PyTorch.
// Errors: ValueError for a feature count below 1, an undefined input, or one of another last
// dimension.
struct LinearImpl : Layer<LinearImpl, LinearOptions> {
  using Layer::Layer;
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input);

  Tensor weight, bias;
  CallReset call_reset{*this};
};
GRADUS_MODULE(Linear);

}  // namespace gradus::nn
