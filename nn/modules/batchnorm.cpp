// BatchNorm and InstanceNorm: their functions, parameters and running statistics.
#include "gradus/nn/modules/batchnorm.h"

#include <cmath>
#include <optional>
#include <type_traits>
#include <typeinfo>

#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/ops/window/batch_norm.h"
#include "gradus/nn/init.h"
#include "gradus/nn/modules/activation.h"

namespace gradus::nn {

namespace {
void check_values_per_channel(const Tensor& input) {
  if (input.dim() < 2) return;
  check(input.numel() != input.size(1) || input.size(1) == 0,
        "batch_norm: Expected more than 1 value per channel when "
        "training, got input size ",
        input.sizes(), "; use a larger batch, or eval()");
}
}  // namespace

namespace functional {

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options) {
  input.operand("batch_norm", "input");
  if (options.training()) check_values_per_channel(input);
  return gradus::batch_norm(input, options.weight(), options.bias(), running_mean, running_var,
                            options.training(), options.momentum().value_or(0), options.eps(),
                            true);
}

Tensor sync_batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                       const BatchNormFuncOptions& options, const SumOverRanks& sum_over_ranks) {
  if (!options.training() || !sum_over_ranks)
    return batch_norm(input, running_mean, running_var, options);
  input.operand("sync_batch_norm", "input");
  check(input.dim() >= 2, "sync_batch_norm: expected input (N, C, ...), but got shape ",
        input.sizes(), "; unsqueeze it");
  const ScalarType given = input.scalar_type();
  const Tensor x = given == kHalf || given == kBFloat16 ? input.to(kFloat) : input;
  const int64_t channels = x.size(1);
  std::vector<int64_t> dims = {0}, shape(static_cast<size_t>(x.dim()), 1);
  for (int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
  shape[1] = channels;
  const auto spread = [&](const Tensor& of_channels) { return of_channels.reshape(shape); };
  const Tensor here = full({1}, static_cast<double>(x.numel() / channels), x.options());
  const Tensor sums = sum_over_ranks(cat({x.sum(dims), here}));
  const Tensor count = sums.slice(0, channels), mean = sums.slice(0, 0, channels) / count;
  const Tensor centered = x - spread(mean);
  const Tensor var = sum_over_ranks((centered * centered).sum(dims)) / count;
  if (running_mean.defined()) {
    const NoGradGuard guard;
    const auto update = [&](Tensor running, const Tensor& fresh) {
      running.lerp_(fresh.to(running.scalar_type()), options.momentum().value_or(0));
    };
    update(running_mean, mean.detach());
    update(running_var, var.detach() * (count / (count - 1)));
  }
  Tensor out = centered * spread((var + options.eps()).rsqrt());
  if (options.weight().defined()) out = out * spread(options.weight());
  if (options.bias().defined()) out = out + spread(options.bias());
  return out.to(given);
}

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options) {
  GRADUS_AUTOCAST(instance_norm, input, options);
  input.operand("instance_norm");
  check(input.dim() >= 2, "instance_norm: Expected at least 2D input (N, C, ...), but got shape ",
        input.sizes(), "; unsqueeze it");
  Tensor running_mean = options.running_mean(), running_var = options.running_var();
  if (!options.use_input_stats()) {
    check(running_mean.defined() && running_var.defined(),
          "instance_norm: Expected running_mean and running_var to be defined when "
          "use_input_stats is false; give them");
    return batch_norm(input, options.weight(), options.bias(), running_mean, running_var,
                      /*training=*/false, 0, options.eps(), true);
  }
  const Tensor rows = input.dim() > 2 ? input.flatten(2) : input.unsqueeze(2);
  check(rows.size(2) != 1,
        "instance_norm: Expected more than 1 spatial element when training, got input size ",
        input.sizes(), "; use a larger input, or eval()");
  check(running_mean.defined() == running_var.defined(),
        "instance_norm: one of running_mean and running_var is undefined; give both or none");
  for (const Tensor& running : {running_mean, running_var})
    check(!running.defined() || (running.dim() == 1 && running.size(0) == input.size(1)),
          "instance_norm: running statistics have shape ",
          running.defined() ? running.sizes() : IntArrayRef(), ", expected [", input.size(1),
          "], a number for each channel; give tensors of that shape");
  const Tensor out =
      group_norm(input, input.size(1), options.weight(), options.bias(), options.eps());
  if (running_mean.defined()) {
    const NoGradGuard guard;
    const auto update = [&](Tensor& running, const Tensor& fresh) {
      running.lerp_(fresh.mean(0).to(running.scalar_type()), options.momentum());
    };
    update(running_mean, rows.mean(2));
    update(running_var, rows.var(2, /*unbiased=*/true));
  }
  return out;
}

}  // namespace functional

template <class Derived, class Options>
void NormWithStatistics<Derived, Options>::reset() {
  const int64_t count = options.num_features();
  check(count > 0, this->name(), ": num_features must be 1 or more, but it is ", count,
        "; give the number of channels");
  const bool affine = options.affine(), tracks = options.track_running_stats();
  weight = this->register_parameter("weight", affine ? empty({count}) : Tensor(), affine);
  bias = this->register_parameter("bias", affine ? empty({count}) : Tensor(), affine);
  running_mean = this->register_buffer("running_mean", tracks ? zeros({count}) : Tensor());
  running_var = this->register_buffer("running_var", tracks ? ones({count}) : Tensor());
  num_batches_tracked =
      this->register_buffer("num_batches_tracked", tracks ? zeros({}, kLong) : Tensor());
  reset_parameters();
}

template <class Derived, class Options>
void NormWithStatistics<Derived, Options>::reset_running_stats() {
  if (!running_mean.defined()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

template <class Derived, class Options>
void NormWithStatistics<Derived, Options>::reset_parameters() {
  reset_running_stats();
  if (!weight.defined()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

template <class Derived, class Options>
void NormWithStatistics<Derived, Options>::pretty_print(std::ostream& stream) const {
  const std::optional<double> momentum = options.momentum();
  stream << std::boolalpha << class_name(typeid(Derived)) << '(' << options.num_features()
         << ", eps=" << options.eps() << ", momentum=";
  momentum ? stream << *momentum : stream << "None";
  stream << ", affine=" << options.affine()
         << ", track_running_stats=" << options.track_running_stats() << ')';
}

template <class Derived, class Options>
void NormWithStatistics<Derived, Options>::check_input(const Tensor& input, int64_t least,
                                                       int64_t most, int64_t channel_dim) const {
  this->check_defined(input, "input");
  check(input.dim() >= least && input.dim() <= most, this->name(), ": expected ",
        least == most ? std::string() : std::to_string(least) + "D or ", most, "D input (got ",
        input.dim(), "D input); it has shape ", input.sizes(), ", use unsqueeze or flatten");
  check(input.size(channel_dim) == options.num_features(), this->name(),
        ": expected input's size at dim=", channel_dim, " to match num_features (",
        options.num_features(), "), but got: ", input.size(channel_dim), "; input has shape ",
        input.sizes(),
        ", permute it or make the module with num_features = ", input.size(channel_dim));
}

namespace {
// The clamp that a module is; nothing for other modules.
std::optional<AfterNorm> clamp_of(const Module& module) {
  AfterNorm after = AfterNorm::relu();
  if (typeid(module) == typeid(ReLUImpl)) return after;
  after.bounds = {0, 6};
  if (typeid(module) == typeid(ReLU6Impl)) return after;
  if (typeid(module) != typeid(HardtanhImpl)) return std::nullopt;
  const HardtanhOptions& options = static_cast<const HardtanhImpl&>(module).options;
  after.bounds = {options.min_val(), options.max_val()};
  return after.bounds.low < after.bounds.high ? std::optional(after) : std::nullopt;
}

// y clamped so by functions of its own.
Tensor clamped(const AfterNorm& after, const Tensor& y) {
  if (!after.clamps) return y;
  const auto& [low, high] = after.bounds;
  return std::isnan(high) ? relu(y) : hardtanh(y, low, high);
}
}  // namespace

bool detail::run_with_clamp(Module& norm, Module& clamp, Tensor& x) {
  if (clamp.is_watched() || norm.is_watched()) return false;
  const std::optional<AfterNorm> after = clamp_of(clamp);
  if (!after) return false;
  const auto run_as = [&]<class Norm>(std::type_identity<Norm>) {  // and as none derived from it
    if (typeid(norm) != typeid(Norm) || !static_cast<Norm&>(norm).joins(x)) return false;
    const auto run = [&] { return static_cast<Norm&>(norm).forward_of(x, *after); };
    x = Module::with_path(norm, run);
    return true;
  };
  return run_as(std::type_identity<BatchNorm1dImpl>()) ||
         run_as(std::type_identity<BatchNorm2dImpl>()) ||
         run_as(std::type_identity<BatchNorm3dImpl>());
}

template <class Norm>
Tensor detail::norm_then(Norm& norm, const Tensor& input, const Tensor& identity,
                         const AfterNorm& after) {
  norm.check_defined(input, "input"), norm.check_defined(identity, "identity");
  const bool alike = input.scalar_type() == identity.scalar_type() &&
                     input.device() == identity.device() && input.sizes() == identity.sizes();
  if (norm.is_watched() || !alike || input.numel() == 0 || !norm.joins(input, identity))
    return clamped(after, Module::call(norm, input) + identity);
  return Module::with_path(norm, [&] { return norm.forward_of(input, after, identity); });
}

template <class Derived, int D>
bool BatchNormImplBase<Derived, D>::joins(const Tensor& input, const Tensor& identity) const {
  return this->is_training() ||
         (this->running_mean.defined() &&
          autograd::follows_given(input, this->weight, this->bias, this->running_mean,
                                  this->running_var, identity));
}

template <class Derived, int D>
Tensor BatchNormImplBase<Derived, D>::forward_of(const Tensor& input, const AfterNorm& after,
                                                 const Tensor& identity) {
  this->check_input(input, D == 1 ? 2 : D + 2, D + 2, 1);
  const bool counts = this->is_training() && this->num_batches_tracked.defined();
  std::optional<double> momentum = this->options.momentum();
  if (counts && !momentum) momentum = 1 / (this->num_batches_tracked.template item<double>() + 1);
  const bool training = this->is_training() || !this->running_mean.defined();
  if (training ? !sum_over_ranks : joins(input, identity)) {
    if (training) check_values_per_channel(input);
    return autograd::batch_norm_step(input, training, this->weight, this->bias, this->running_mean,
                                     this->running_var,
                                     counts ? this->num_batches_tracked : Tensor(),
                                     momentum.value_or(0), this->options.eps(), after, identity);
  }
  const auto settings = functional::BatchNormFuncOptions()
                            .weight(this->weight)
                            .bias(this->bias)
                            .training(training)
                            .momentum(momentum)
                            .eps(this->options.eps());
  const Tensor out =
      sum_over_ranks && this->is_training()
          ? functional::sync_batch_norm(input, this->running_mean, this->running_var, settings,
                                        sum_over_ranks)
          : functional::batch_norm(input, this->running_mean, this->running_var, settings);
  if (counts) this->num_batches_tracked.add_(1);
  return clamped(after, after.adds ? out + identity : out);
}

template <class Derived, int D>
Tensor InstanceNormImpl<Derived, D>::forward(const Tensor& input) {
  const bool batched = input.defined() && input.dim() == D + 2;
  this->check_input(input, D + 1, D + 2, batched ? 1 : 0);
  if (!batched) return forward(input.unsqueeze(0)).squeeze(0);
  return functional::instance_norm(
      input, functional::InstanceNormFuncOptions()
                 .running_mean(this->running_mean)
                 .running_var(this->running_var)
                 .weight(this->weight)
                 .bias(this->bias)
                 .use_input_stats(this->is_training() || !this->options.track_running_stats())
                 .momentum(this->options.momentum())
                 .eps(this->options.eps()));
}

#define GRADUS_NORMS(n)                                                                 \
  template struct NormWithStatistics<BatchNorm##n##dImpl, BatchNormOptions>;            \
  template struct NormWithStatistics<InstanceNorm##n##dImpl, InstanceNormOptions>;      \
  template struct BatchNormImplBase<BatchNorm##n##dImpl, n>;                            \
  template Tensor detail::norm_then(BatchNorm##n##dImpl&, const Tensor&, const Tensor&, \
                                    const AfterNorm&);                                  \
  template struct InstanceNormImpl<InstanceNorm##n##dImpl, n>;
GRADUS_NORMS(1)
GRADUS_NORMS(2)
GRADUS_NORMS(3)
#undef GRADUS_NORMS

}  // namespace gradus::nn
