// SyncBatchNorm and convert_sync_batchnorm: batch normalisation by the statistics of all ranks.
#pragma once

#include "gradus/distributed/process_group.h"
#include "gradus/nn/modules/batchnorm.h"

namespace gradus::nn {

// process_group: all ranks of the job where it is null.
struct SyncBatchNormOptions {
  GRADUS_OPTIONS(SyncBatchNormOptions, ARGUMENT(int64_t, num_features), OPTION(double, eps, 1e-5),
                 OPTION(std::optional<double>, momentum, 0.1), OPTION(bool, affine, true),
                 OPTION(bool, track_running_stats, true),
                 OPTION(distributed::Group, process_group, nullptr));
};

// BatchNorm of (N, C, ...) whose mean and variance, while training, are those of the batches of all
// ranks; N may differ. Where there is no process group it is BatchNorm. All ranks call it together.
// Errors: as BatchNorm, and those of distributed::all_reduce.
struct SyncBatchNormImpl : Layer<SyncBatchNormImpl, SyncBatchNormOptions> {
  using Layer::Layer;
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  Tensor weight, bias, running_mean, running_var, num_batches_tracked;
  CallReset call_reset{*this};
};
GRADUS_MODULE(SyncBatchNorm);

// Every BatchNorm1d to BatchNorm3d in the module takes the statistics of all ranks from now on, as
// SyncBatchNorm does. The modules and their names stay: members of C++ classes hold them by type.
void convert_sync_batchnorm(Module& module, const distributed::Group& process_group = nullptr);
template <class M>
ModuleHolder<M> convert_sync_batchnorm(ModuleHolder<M> module,
                                       const distributed::Group& process_group = nullptr) {
  convert_sync_batchnorm(static_cast<Module&>(*module), process_group);
  return module;
}

}  // namespace gradus::nn
