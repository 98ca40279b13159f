// LocalResponseNorm and CrossMapLRN2d: over neighbouring channels.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

struct LocalResponseNormOptions {
  GRADUS_OPTIONS(LocalResponseNormOptions, ARGUMENT(int64_t, size), OPTION(double, alpha, 1e-4),
                 OPTION(double, beta, 0.75), OPTION(double, k, 1));
};
struct CrossMapLRN2dOptions {
  GRADUS_OPTIONS(CrossMapLRN2dOptions, ARGUMENT(int64_t, size), OPTION(double, alpha, 1e-4),
                 OPTION(double, beta, 0.75), OPTION(int64_t, k, 1));
};

namespace functional {
using LocalResponseNormFuncOptions = LocalResponseNormOptions;
// input / (k + alpha * mean of input^2 over `size` channels around each)^beta, as in "ImageNet
// classification with deep convolutional neural networks" (Krizhevsky et al., 2012), 3.3. Channels
// that are not there count as 0. Input (N, C, ...). Errors: ValueError for fewer dimensions than 3.
Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options);
}  // namespace functional

// Divides by the root of the sums of squares over neighbouring channels. Input and output (N, C,
// ...).
// Errors: ValueError for an undefined input, and those of the function.
struct LocalResponseNormImpl : FunctionLayer<LocalResponseNormImpl, LocalResponseNormOptions,
                                             functional::local_response_norm> {
  using FunctionLayer::FunctionLayer;
  void pretty_print(std::ostream& stream) const override;
};
GRADUS_MODULE(LocalResponseNorm);

// The same of (N, C, H, W), over as many channels on both sides: an even size counts as the odd one
// below it, except in the divisor of the mean. PyTorch also adds the square of channel 0 to all
// windows that lack it, which its gradient ignores; this module does not.
// Errors: ValueError for an undefined input, and for another number of dimensions.
struct CrossMapLRN2dImpl : Layer<CrossMapLRN2dImpl, CrossMapLRN2dOptions> {
  using Layer::Layer;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
GRADUS_MODULE(CrossMapLRN2d);

}  // namespace gradus::nn
