// BatchNorm1d to BatchNorm3d and InstanceNorm1d to InstanceNorm3d: channels, normalised by
// statistics that can be kept.
#pragma once

#include <functional>

#include "gradus/nn/layer.h"
#include "gradus/tensor/base/normalized_rows.h"

namespace gradus::nn {

// momentum: the share of a new batch in the running statistics; nullopt for the mean of all
// batches. affine: weight and bias. track_running_stats: keep statistics, and use them after
// eval().
struct BatchNormOptions {
  GRADUS_OPTIONS(BatchNormOptions, ARGUMENT(int64_t, num_features), OPTION(double, eps, 1e-5),
                 OPTION(std::optional<double>, momentum, 0.1), OPTION(bool, affine, true),
                 OPTION(bool, track_running_stats, true));
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

struct InstanceNormOptions {
  GRADUS_OPTIONS(InstanceNormOptions, ARGUMENT(int64_t, num_features), OPTION(double, eps, 1e-5),
                 OPTION(double, momentum, 0.1), OPTION(bool, affine, false),
                 OPTION(bool, track_running_stats, false));
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

namespace functional {

struct BatchNormFuncOptions {
  GRADUS_OPTIONS(BatchNormFuncOptions, OPTION(Tensor, weight, {}), OPTION(Tensor, bias, {}),
                 OPTION(bool, training, false), OPTION(std::optional<double>, momentum, 0.1),
                 OPTION(double, eps, 1e-5));
};
// Each channel of (N, C, ...), less its mean, over its deviation. training: the statistics are
// those of input, and running_mean and running_var take a share of them where they are defined.
// Otherwise the statistics are the running ones.
// Errors: ValueError for a single value per channel while training, and for shapes.
Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options = {});

// Adds up a tensor over the ranks of a group, in the graph: its gradient is added up, too.
using SumOverRanks = std::function<Tensor(const Tensor&)>;
// batch_norm whose statistics are those of the inputs of all ranks, while training.
Tensor sync_batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                       const BatchNormFuncOptions& options, const SumOverRanks& sum_over_ranks);

// use_input_stats: normalise by the mean and variance of the input, and put their means over the
// batch into running_mean and running_var, where these are defined; else normalise by the running
// statistics.
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

}  // namespace functional

// The common part of BatchNorm and InstanceNorm. weight and bias (num_features) start as 1 and 0.
// running_mean and running_var start as 0 and 1. Tensors that the options leave out are undefined.
template <class Derived, class Options>
struct NormWithStatistics : Layer<Derived, Options> {
  using Layer<Derived, Options>::Layer;
  using Layer<Derived, Options>::options;
  void reset() override;
  void reset_parameters();
  void reset_running_stats();
  void pretty_print(std::ostream& stream) const override;

  Tensor weight, bias, running_mean, running_var, num_batches_tracked;
  typename Layer<Derived, Options>::CallReset call_reset{*this};

 protected:
  // Errors: ValueError for an undefined input, one without a number of dimensions of least to most,
  // or other channels in `channel_dim`.
  void check_input(const Tensor& input, int64_t least, int64_t most, int64_t channel_dim) const;
};

namespace detail {
// Batch norm and what follows it take the passes over memory of batch norm alone while training,
// and after eval() on a GPU where nothing is recorded.
//
// Runs a batch norm and a ReLU, ReLU6 or Hardtanh after it on x. Returns false and does nothing for
// other modules, for modules with hooks and where the passes would not be one.
bool run_with_clamp(Module& norm, Module& clamp, Tensor& x);
// norm(input) + identity and what follows, which ends a residual block. The sum of tensors of one
// shape and dtype is rounded once. Hooks of norm see its forward(). REQUIRES: after.adds.
template <class Norm>
Tensor norm_then(Norm& norm, const Tensor& input, const Tensor& identity, const AfterNorm& after);
template <class Norm>
Tensor norm_add(Norm& norm, const Tensor& input, const Tensor& identity) {
  return norm_then(norm, input, identity, {.adds = true});
}
template <class Norm>
Tensor norm_add_relu(Norm& norm, const Tensor& input, const Tensor& identity) {
  return norm_then(norm, input, identity, {.adds = true, .clamps = true});
}
}  // namespace detail

// Each channel less the mean of its batch, over its deviation; after eval() by the running
// statistics, where they are tracked. Input and output (N, C, D spatial dimensions), 1d also (N,
// C).
// Errors: ValueError for an undefined input, another number of dimensions or channels, and while
// training for a single value per channel.
template <class Derived, int D>
struct BatchNormImplBase : NormWithStatistics<Derived, BatchNormOptions> {
  using NormWithStatistics<Derived, BatchNormOptions>::NormWithStatistics;
  Tensor forward(const Tensor& input) { return forward_of(input, {}); }

  functional::SumOverRanks sum_over_ranks;  // convert_sync_batchnorm (distributed/ddp/) sets it

 private:
  friend bool detail::run_with_clamp(Module& norm, Module& clamp, Tensor& x);
  // Whether what follows is computed in the same passes.
  bool joins(const Tensor& input, const Tensor& identity = {}) const;
  template <class Norm>
  friend Tensor detail::norm_then(Norm& norm, const Tensor& input, const Tensor& identity,
                                  const AfterNorm& after);
  // forward(), and what follows it.
  Tensor forward_of(const Tensor& input, const AfterNorm& after, const Tensor& identity = {});
};
GRADUS_LAYER(BatchNorm1d, BatchNormImplBase, 1);
GRADUS_LAYER(BatchNorm2d, BatchNormImplBase, 2);
GRADUS_LAYER(BatchNorm3d, BatchNormImplBase, 3);

// Each channel of each sample less its mean, over its deviation; after eval() by the running
// statistics, where they are tracked. Input and output (N, C, D spatial dimensions), or without N.
// Errors: ValueError for an undefined input, another number of dimensions or channels, and those of
// F::instance_norm.
template <class Derived, int D>
struct InstanceNormImpl : NormWithStatistics<Derived, InstanceNormOptions> {
  using NormWithStatistics<Derived, InstanceNormOptions>::NormWithStatistics;
  Tensor forward(const Tensor& input);
};
GRADUS_LAYER(InstanceNorm1d, InstanceNormImpl, 1);
GRADUS_LAYER(InstanceNorm2d, InstanceNormImpl, 2);
GRADUS_LAYER(InstanceNorm3d, InstanceNormImpl, 3);

extern template struct BatchNormImplBase<BatchNorm1dImpl, 1>;
extern template struct BatchNormImplBase<BatchNorm2dImpl, 2>;
extern template struct BatchNormImplBase<BatchNorm3dImpl, 3>;
extern template struct InstanceNormImpl<InstanceNorm1dImpl, 1>;
extern template struct InstanceNormImpl<InstanceNorm2dImpl, 2>;
extern template struct InstanceNormImpl<InstanceNorm3dImpl, 3>;

}  // namespace gradus::nn
