// InstanceNorm1d to InstanceNorm3d, and RMSNorm.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

struct InstanceNormOptions {
  GRADUS_OPTIONS(InstanceNormOptions, ARGUMENT(int64_t, num_features), OPTION(double, eps, 1e-5),
                 OPTION(double, momentum, 0.1), OPTION(bool, affine, false),
                 OPTION(bool, track_running_stats, false));
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

// eps: nullopt for the least difference of numbers of the input's dtype at 1.
struct RMSNormOptions {
  GRADUS_OPTIONS(RMSNormOptions, ARGUMENT(std::vector<int64_t>, normalized_shape),
                 OPTION(std::optional<double>, eps, {}), OPTION(bool, elementwise_affine, true));
};

namespace functional {

// use_input_stats: normalise by mean and variance of the input, and put the mean over the batch of
// these into running_mean and running_var, where they are defined; else normalise by the latter.
struct InstanceNormFuncOptions {
  GRADUS_OPTIONS(InstanceNormFuncOptions, OPTION(Tensor, running_mean, {}),
                 OPTION(Tensor, running_var, {}), OPTION(Tensor, weight, {}),
                 OPTION(Tensor, bias, {}), OPTION(bool, use_input_stats, true),
                 OPTION(double, momentum, 0.1), OPTION(double, eps, 1e-5));
};
// Each channel of each sample, (N, C, ...), less its mean, over its deviation.
// Errors: ValueError for a single element per channel with use_input_stats, and where running
// statistics are missing without.
Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});

struct RMSNormFuncOptions {
  GRADUS_OPTIONS(RMSNormFuncOptions, ARGUMENT(std::vector<int64_t>, normalized_shape),
                 OPTION(Tensor, weight, {}), OPTION(std::optional<double>, eps, {}));
};
// input / sqrt(mean of input^2 over the last dimensions, of normalized_shape, + eps) * weight
Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& options);

}  // namespace functional

// Input (N, C, D spatial dimensions) or without N. weight starts as 1, bias as 0; both and the
// statistics are undefined where the options leave them out.
// Errors: ValueError for an undefined input, one of another number of dimensions or channels, and
// those of F::instance_norm.
template <class Derived, int64_t D>
struct InstanceNormImpl : Layer<Derived, InstanceNormOptions> {
  using Layer<Derived, InstanceNormOptions>::Layer;
  using Layer<Derived, InstanceNormOptions>::options;
  void reset() override;
  void reset_parameters();
  void reset_running_stats();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  Tensor weight, bias, running_mean, running_var, num_batches_tracked;
  typename Layer<Derived, InstanceNormOptions>::CallReset call_reset{*this};
};

struct InstanceNorm1dImpl : InstanceNormImpl<InstanceNorm1dImpl, 1> {
  using InstanceNormImpl::InstanceNormImpl;
};
GRADUS_MODULE(InstanceNorm1d);
struct InstanceNorm2dImpl : InstanceNormImpl<InstanceNorm2dImpl, 2> {
  using InstanceNormImpl::InstanceNormImpl;
};
GRADUS_MODULE(InstanceNorm2d);
struct InstanceNorm3dImpl : InstanceNormImpl<InstanceNorm3dImpl, 3> {
  using InstanceNormImpl::InstanceNormImpl;
};
GRADUS_MODULE(InstanceNorm3d);
extern template struct InstanceNormImpl<InstanceNorm1dImpl, 1>;
extern template struct InstanceNormImpl<InstanceNorm2dImpl, 2>;
extern template struct InstanceNormImpl<InstanceNorm3dImpl, 3>;

// weight starts as 1.
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

}  // namespace gradus::nn
