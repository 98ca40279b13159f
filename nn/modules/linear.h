// Linear: y = x W^T + b.
#pragma once

#include "gradus/nn/options_module.h"
#include "gradus/tensor/base/option.h"

namespace gradus::nn {

struct LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  GRADUS_OPTION(LinearOptions, int64_t, in_features);
  GRADUS_OPTION(LinearOptions, int64_t, out_features);
  GRADUS_OPTION(LinearOptions, bool, bias) = true;
  auto fields() {
    return std::tuple(Field{"in_features", &in_features_}, Field{"out_features", &out_features_},
                      Field{"bias", &bias_});
  }
};

// Input (..., in_features), output (..., out_features); weight (out_features, in_features) and bias
// (out_features) start uniform in +-1/sqrt(in_features), as in PyTorch.
// Errors: ValueError for a feature count below 1, or an input of another last dimension.
struct LinearImpl : OptionsModule<LinearImpl, LinearOptions> {
  static constexpr const char* kName = "Linear";
  LinearImpl(int64_t in_features, int64_t out_features)
      : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options_) : OptionsModule(options_) { reset(); }
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input);

  Tensor weight, bias;
};
GRADUS_MODULE(Linear);

}  // namespace gradus::nn
