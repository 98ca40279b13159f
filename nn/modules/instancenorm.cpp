// InstanceNorm and RMSNorm: their functions, parameters and statistics.
#include "gradus/nn/modules/instancenorm.h"

#include <algorithm>
#include <limits>

#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/nn/init.h"

namespace gradus::nn {

namespace functional {

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options) {
  GRADUS_AUTOCAST(instance_norm, input, options);
  input.operand("instance_norm");
  check(input.dim() >= 2, "instance_norm: Expected at least 2D input (N, C, ...), but got shape ",
        input.sizes());
  Tensor running_mean = options.running_mean(), running_var = options.running_var();
  if (!options.use_input_stats()) {
    check(running_mean.defined() && running_var.defined(),
          "instance_norm: Expected running_mean and running_var to be defined when "
          "use_input_stats is false; give them");
    return batch_norm(input, options.weight(), options.bias(), running_mean, running_var,
                      /*training=*/false, 0, options.eps(), true);
  }
  const Tensor rows = input.flatten(2);
  check(rows.dim() > 2 && rows.size(2) > 1,
        "instance_norm: Expected more than 1 spatial element when training, got input size ",
        input.sizes(), "; use a larger input, or eval()");
  if (running_mean.defined()) {
    const NoGradGuard guard;
    const auto update = [&](Tensor& running, const Tensor& fresh) {
      running.lerp_(fresh.mean(0).to(running.scalar_type()), options.momentum());
    };
    update(running_mean, rows.mean(2));
    update(running_var, rows.var(2, /*unbiased=*/true));
  }
  return group_norm(input, input.size(1), options.weight(), options.bias(), options.eps());
}

Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& options) {
  GRADUS_AUTOCAST(rms_norm, input, options);
  input.operand("rms_norm");
  const std::vector<int64_t>& shape = options.normalized_shape();
  const auto count = static_cast<int64_t>(shape.size());
  const bool fits = count > 0 && input.dim() >= count &&
                    std::equal(shape.begin(), shape.end(), input.sizes().end() - count);
  check(fits, "rms_norm: Given normalized_shape=", IntArrayRef(shape),
        ", expected input with shape [*, ", detail::joined_numbers(shape),
        "], but got input of size ", input.sizes());
  std::vector<int64_t> dims;
  for (int64_t d = 1; d <= count; ++d) dims.push_back(-d);
  const double least = input.scalar_type() == kDouble
                           ? std::numeric_limits<double>::epsilon()
                           : static_cast<double>(std::numeric_limits<float>::epsilon());
  const double eps = options.eps().value_or(least);
  const Tensor out = input * (input.square().mean(dims, /*keepdim=*/true) + eps).rsqrt();
  return options.weight().defined() ? (out * options.weight()).to(input.scalar_type()) : out;
}

}  // namespace functional

template <class Derived, int64_t D>
void InstanceNormImpl<Derived, D>::reset() {
  const int64_t count = options.num_features();
  check(count > 0, this->name(), ": num_features must be 1 or more, but it is ", count);
  const bool affine = options.affine(), tracks = options.track_running_stats();
  weight = this->register_parameter("weight", affine ? empty({count}) : Tensor(), affine);
  bias = this->register_parameter("bias", affine ? empty({count}) : Tensor(), affine);
  running_mean = this->register_buffer("running_mean", tracks ? zeros({count}) : Tensor());
  running_var = this->register_buffer("running_var", tracks ? ones({count}) : Tensor());
  num_batches_tracked =
      this->register_buffer("num_batches_tracked", tracks ? zeros({}, kLong) : Tensor());
  reset_parameters();
}

template <class Derived, int64_t D>
void InstanceNormImpl<Derived, D>::reset_running_stats() {
  if (!running_mean.defined()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

template <class Derived, int64_t D>
void InstanceNormImpl<Derived, D>::reset_parameters() {
  reset_running_stats();
  if (!weight.defined()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

template <class Derived, int64_t D>
void InstanceNormImpl<Derived, D>::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << class_name(typeid(Derived)) << '(' << options.num_features()
         << ", eps=" << options.eps() << ", momentum=" << options.momentum()
         << ", affine=" << options.affine()
         << ", track_running_stats=" << options.track_running_stats() << ')';
}

template <class Derived, int64_t D>
Tensor InstanceNormImpl<Derived, D>::forward(const Tensor& input) {
  this->check_defined(input, "input");
  check(input.dim() == D + 1 || input.dim() == D + 2, this->name(), ": expected ", D + 1, "D or ",
        D + 2, "D input (got ", input.dim(), "D input); it has shape ", input.sizes());
  if (input.dim() == D + 1) return forward(input.unsqueeze(0)).squeeze(0);
  check(input.size(1) == options.num_features(), this->name(),
        ": expected input's size at dim=1 "
        "to match num_features (",
        options.num_features(), "), but got: ", input.size(1));
  return functional::instance_norm(
      input, functional::InstanceNormFuncOptions()
                 .running_mean(running_mean)
                 .running_var(running_var)
                 .weight(weight)
                 .bias(bias)
                 .use_input_stats(this->is_training() || !options.track_running_stats())
                 .momentum(options.momentum())
                 .eps(options.eps()));
}

template struct InstanceNormImpl<InstanceNorm1dImpl, 1>;
template struct InstanceNormImpl<InstanceNorm2dImpl, 2>;
template struct InstanceNormImpl<InstanceNorm3dImpl, 3>;

void RMSNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight = register_parameter(
      "weight", affine ? gradus::empty(options.normalized_shape()) : Tensor(), affine);
  reset_parameters();
}

void RMSNormImpl::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
}

void RMSNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << class_name(typeid(*this)) << "(["
         << detail::joined_numbers(options.normalized_shape()) << "], eps=";
  options.eps() ? stream << *options.eps() : stream << "None";
  stream << ", elementwise_affine=" << options.elementwise_affine() << ')';
}

Tensor RMSNormImpl::forward(const Tensor& input) {
  check_defined(input, "input");
  return functional::rms_norm(
      input,
      functional::RMSNormFuncOptions(options.normalized_shape()).weight(weight).eps(options.eps()));
}

}  // namespace gradus::nn
