// Linear: y = x W^T + b, and Bilinear: y = x1 W x2 + b.
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

// y = x W^T + b. Input (..., in_features), output (..., out_features); weight (out_features,
// in_features) and bias (out_features) start uniform in +-1/sqrt(in_features), as in PyTorch.
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

struct BilinearOptions {
  GRADUS_OPTIONS(BilinearOptions, ARGUMENT(int64_t, in1_features), ARGUMENT(int64_t, in2_features),
                 ARGUMENT(int64_t, out_features), OPTION(bool, bias, true));
};

namespace functional {
inline Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                       const Tensor& bias = {}) {
  return gradus::bilinear(input1, input2, weight, bias);
}
}  // namespace functional

// y = x1 W x2 + b. Inputs (..., in1_features) and (..., in2_features), output (..., out_features);
// weight (out_features, in1_features, in2_features) and bias (out_features) start uniform in
// +-1/sqrt(in1_features).
// Errors: as those of Linear, and ValueError for inputs whose other dimensions differ.
struct BilinearImpl : Layer<BilinearImpl, BilinearOptions> {
  using Layer::Layer;
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input1, const Tensor& input2);

  Tensor weight, bias;
  CallReset call_reset{*this};
};
GRADUS_MODULE(Bilinear);

}  // namespace gradus::nn
