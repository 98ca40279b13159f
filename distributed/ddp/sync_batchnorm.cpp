// Sums of batch statistics over ranks, and the modules that use them.
#include "gradus/distributed/ddp/sync_batchnorm.h"

#include "gradus/distributed/ddp/model_parallel.h"
#include "gradus/distributed/init.h"

namespace gradus::nn {

namespace {
// Forward and backward all_reduce. Null where there are no other ranks.
functional::SumOverRanks sum_over(const distributed::Group& group) {
  if (!distributed::is_initialized() || distributed::get_world_size(group) < 2) return nullptr;
  return [group](const Tensor& x) {
    return distributed::copy_to_ranks(distributed::reduce_from_ranks(x.contiguous(), group), group);
  };
}
}  // namespace

void SyncBatchNormImpl::reset() {
  const int64_t count = options.num_features();
  check(count > 0, "SyncBatchNorm: num_features must be 1 or more, but it is ", count,
        "; give the number of channels");
  const bool affine = options.affine(), tracks = options.track_running_stats();
  weight = register_parameter("weight", affine ? ones({count}) : Tensor(), affine);
  bias = register_parameter("bias", affine ? zeros({count}) : Tensor(), affine);
  running_mean = register_buffer("running_mean", tracks ? zeros({count}) : Tensor());
  running_var = register_buffer("running_var", tracks ? ones({count}) : Tensor());
  num_batches_tracked =
      register_buffer("num_batches_tracked", tracks ? zeros({}, kLong) : Tensor());
}

void SyncBatchNormImpl::pretty_print(std::ostream& stream) const {
  const auto& [count, eps, momentum, affine, tracks, group] = options.fields();
  stream << std::boolalpha << "gradus::nn::SyncBatchNorm(" << count.value << ", eps=" << eps.value
         << ", momentum=";
  momentum.value ? stream << *momentum.value : stream << "None";
  stream << ", affine=" << affine.value << ", track_running_stats=" << tracks.value << ')';
}

Tensor SyncBatchNormImpl::forward(const Tensor& input) {
  check_defined(input, "input");
  check(input.dim() >= 2 && input.size(1) == options.num_features(),
        "SyncBatchNorm: expected input (N, C, ...) with C = num_features = ",
        options.num_features(), ", but got shape ", input.sizes(), "; use unsqueeze or permute");
  const bool counts = is_training() && num_batches_tracked.defined();
  std::optional<double> momentum = options.momentum();
  if (counts && !momentum) momentum = 1 / (num_batches_tracked.item<double>() + 1);
  const Tensor out =
      functional::sync_batch_norm(input, running_mean, running_var,
                                  functional::BatchNormFuncOptions()
                                      .weight(weight)
                                      .bias(bias)
                                      .training(is_training() || !running_mean.defined())
                                      .momentum(momentum)
                                      .eps(options.eps()),
                                  is_training() ? sum_over(options.process_group()) : nullptr);
  if (counts) num_batches_tracked.add_(1);
  return out;
}

void convert_sync_batchnorm(Module& module, const distributed::Group& process_group) {
  module.apply([&](Module& each) {
    const auto convert = [&](auto* norm) {
      if (norm) norm->sum_over_ranks = sum_over(process_group);
    };
    convert(each.as<BatchNorm1d>());
    convert(each.as<BatchNorm2d>());
    convert(each.as<BatchNorm3d>());
  });
}

}  // namespace gradus::nn
