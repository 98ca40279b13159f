// BatchNorm1d to BatchNorm3d, LayerNorm and GroupNorm, and normalize.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

// momentum: nullopt for the mean of all batches.
struct BatchNormOptions {
  GRADUS_OPTIONS(BatchNormOptions, ARGUMENT(int64_t, num_features), OPTION(double, eps, 1e-5),
                 OPTION(std::optional<double>, momentum, 0.1), OPTION(bool, affine, true),
                 OPTION(bool, track_running_stats, true));
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

struct LayerNormOptions {
  GRADUS_OPTIONS(LayerNormOptions, ARGUMENT(std::vector<int64_t>, normalized_shape),
                 OPTION(double, eps, 1e-5), OPTION(bool, elementwise_affine, true));
};

struct GroupNormOptions {
  GRADUS_OPTIONS(GroupNormOptions, ARGUMENT(int64_t, num_groups), ARGUMENT(int64_t, num_channels),
                 OPTION(double, eps, 1e-5), OPTION(bool, affine, true));
};

namespace functional {

struct BatchNormFuncOptions {
  GRADUS_OPTIONS(BatchNormFuncOptions, OPTION(Tensor, weight, {}), OPTION(Tensor, bias, {}),
                 OPTION(bool, training, false), OPTION(std::optional<double>, momentum, 0.1),
                 OPTION(double, eps, 1e-5));
};
// Errors: ValueError for a single value per channel while training.
Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options = {});

struct LayerNormFuncOptions {
  GRADUS_OPTIONS(LayerNormFuncOptions, ARGUMENT(std::vector<int64_t>, normalized_shape),
                 OPTION(Tensor, weight, {}), OPTION(Tensor, bias, {}), OPTION(double, eps, 1e-5));
};
inline Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return gradus::layer_norm(input, options.normalized_shape(), options.weight(), options.bias(),
                            options.eps());
}

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
                 OPTION(double, eps, 1e-12));
};
// input over its p-norm along dim, which is taken as eps where it is smaller.
inline Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options = {}) {
  const Tensor norm = input.norm(options.p(), {options.dim()}, /*keepdim=*/true);
  return input / norm.clamp_min(options.eps()).expand_as(input);
}

}  // namespace functional

// Each channel less the mean of its batch, over its deviation; after eval() those of all batches
// while training, where they are tracked. weight starts as 1, bias as 0.
// Errors: ValueError for an undefined input, one of another number of dimensions or channels, and
// while training for a single value per channel.
template <class Derived, int least, int most>
struct BatchNormImplBase : Layer<Derived, BatchNormOptions> {
  using Layer<Derived, BatchNormOptions>::Layer;
  using Layer<Derived, BatchNormOptions>::options;
  void reset() override;
  void reset_parameters();
  void reset_running_stats();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  Tensor weight, bias, running_mean, running_var, num_batches_tracked;
  typename Layer<Derived, BatchNormOptions>::CallReset call_reset{*this};
};

// The numbers: how many dimensions an input may have.
struct BatchNorm1dImpl : BatchNormImplBase<BatchNorm1dImpl, 2, 3> {
  using BatchNormImplBase::BatchNormImplBase;
};
GRADUS_MODULE(BatchNorm1d);
struct BatchNorm2dImpl : BatchNormImplBase<BatchNorm2dImpl, 4, 4> {
  using BatchNormImplBase::BatchNormImplBase;
};
GRADUS_MODULE(BatchNorm2d);
struct BatchNorm3dImpl : BatchNormImplBase<BatchNorm3dImpl, 5, 5> {
  using BatchNormImplBase::BatchNormImplBase;
};
GRADUS_MODULE(BatchNorm3d);
extern template struct BatchNormImplBase<BatchNorm1dImpl, 2, 3>;
extern template struct BatchNormImplBase<BatchNorm2dImpl, 4, 4>;
extern template struct BatchNormImplBase<BatchNorm3dImpl, 5, 5>;

// Over the last dimensions, of normalized_shape; weight starts as 1, bias as 0.
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

// Over groups of channels of each sample; weight starts as 1, bias as 0.
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

}  // namespace gradus::nn
