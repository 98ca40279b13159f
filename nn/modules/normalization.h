// LayerNorm, RMSNorm and GroupNorm, and normalize.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

struct LayerNormOptions {
  GRADUS_OPTIONS(LayerNormOptions, ARGUMENT(std::vector<int64_t>, normalized_shape),
                 OPTION(double, eps, 1e-5), OPTION(bool, elementwise_affine, true),
                 OPTION(bool, bias, true));
};

// eps: nullopt for the distance from 1 to the next number of the dtype that the input is computed
// in, float32 for half types.
struct RMSNormOptions {
  GRADUS_OPTIONS(RMSNormOptions, ARGUMENT(std::vector<int64_t>, normalized_shape),
                 OPTION(std::optional<double>, eps, {}), OPTION(bool, elementwise_affine, true));
};

struct GroupNormOptions {
  GRADUS_OPTIONS(GroupNormOptions, ARGUMENT(int64_t, num_groups), ARGUMENT(int64_t, num_channels),
                 OPTION(double, eps, 1e-5), OPTION(bool, affine, true));
};

namespace functional {

struct LayerNormFuncOptions {
  GRADUS_OPTIONS(LayerNormFuncOptions, ARGUMENT(std::vector<int64_t>, normalized_shape),
                 OPTION(Tensor, weight, {}), OPTION(Tensor, bias, {}), OPTION(double, eps, 1e-5));
};
inline Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return gradus::layer_norm(input, options.normalized_shape(), options.weight(), options.bias(),
                            options.eps());
}

struct RMSNormFuncOptions {
  GRADUS_OPTIONS(RMSNormFuncOptions, ARGUMENT(std::vector<int64_t>, normalized_shape),
                 OPTION(Tensor, weight, {}), OPTION(std::optional<double>, eps, {}));
};
// input / sqrt(mean of input^2 over the last dimensions, of normalized_shape, + eps) * weight
Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& options);

struct GroupNormFuncOptions {
  GRADUS_OPTIONS(GroupNormFuncOptions, ARGUMENT(int64_t, num_groups), OPTION(Tensor, weight, {}),
                 OPTION(Tensor, bias, {}), OPTION(double, eps, 1e-5));
};
inline Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options) {
  return gradus::group_norm(input, options.num_groups(), options.weight(), options.bias(),
                            options.eps());
}

struct NormalizeFuncOptions {
  GRADUS_OPTIONS(NormalizeFuncOptions, OPTION(double, p, 2), OPTION(int64_t, dim, 1),
                 OPTION(double, eps, 1e-12), OPTION(std::optional<Tensor>, out, {}));
};
// input over its p-norm along dim, which is taken as eps where it is smaller; in `out` where given.
inline Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options = {}) {
  const Tensor norm = input.norm(options.p(), {options.dim()}, /*keepdim=*/true);
  const Tensor divisor = norm.clamp_min(options.eps()).expand_as(input);
  if (!options.out()) return input / divisor;
  Tensor out = *options.out();
  return gradus::div_out(out, input, divisor);
}

}  // namespace functional

// Each row less its mean, over its deviation. Input and output (..., normalized_shape); weight and
// bias (normalized_shape) start as 1 and 0. The option elementwise_affine turns off both, the
// option bias the latter alone.
// Errors: ValueError for an undefined input, other last dimensions, and a normalized_shape that is
// empty or has a size below 0.
struct LayerNormImpl : Layer<LayerNormImpl, LayerNormOptions> {
  using Layer::Layer;
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  Tensor weight, bias;
  CallReset call_reset{*this};
};
GRADUS_MODULE(LayerNorm);

// Each row over the root of the mean of its squares. Input and output (..., normalized_shape);
// weight (normalized_shape) starts as 1.
// Errors: ValueError for an undefined input, and for other last dimensions.
struct RMSNormImpl : Layer<RMSNormImpl, RMSNormOptions> {
  using Layer::Layer;
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  Tensor weight;
  CallReset call_reset{*this};
};
GRADUS_MODULE(RMSNorm);

// Each group of channels of each sample less its mean, over its deviation. Input and output (N,
// num_channels, ...); weight and bias (num_channels) start as 1 and 0.
// Errors: ValueError for an undefined input, another number of channels, and one that num_groups
// does not divide.
struct GroupNormImpl : Layer<GroupNormImpl, GroupNormOptions> {
  using Layer::Layer;
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  Tensor weight, bias;
  CallReset call_reset{*this};
};
GRADUS_MODULE(GroupNorm);

namespace detail {
// Runs a group norm and a SiLU after it on x, in the passes over memory of group norm alone, where
// the device does so for channels that lie last. Returns false and does nothing elsewhere, for
// other modules and for modules with hooks. last: who gets the result, or nullptr.
bool run_with_silu(Module& norm, Module& silu, const Module* last, Tensor& x);
}  // namespace detail

}  // namespace gradus::nn
