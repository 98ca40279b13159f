// Normalisations: their parameters and running statistics.
#include "gradus/nn/modules/normalization.h"

#include "gradus/nn/init.h"

namespace gradus::nn {

namespace functional {

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options) {
  check(input.defined(), "batch_norm: input is undefined, expected a tensor; assign it one first");
  if (options.training() && input.dim() >= 2)
    check(input.numel() > input.size(1),
          "batch_norm: Expected more than 1 value per channel when "
          "training, got input size ",
          input.sizes(), "; use a larger batch, or eval()");
  return gradus::batch_norm(input, options.weight(), options.bias(), running_mean, running_var,
                            options.training(), options.momentum().value_or(0), options.eps(),
                            true);
}

}  // namespace functional

namespace {

// weight and bias of this shape, or none, but under their names.
template <class Layer>
void register_affine(Layer& layer, bool affine, IntArrayRef shape) {
  layer.weight = layer.register_parameter("weight", affine ? empty(shape) : Tensor(), affine);
  layer.bias = layer.register_parameter("bias", affine ? empty(shape) : Tensor(), affine);
}

void start_affine(const Tensor& weight, const Tensor& bias) {
  if (!weight.defined()) return;
  init::ones_(weight);
  init::zeros_(bias);
}

}  // namespace

template <class Derived, int least, int most>
void BatchNormImplBase<Derived, least, most>::reset() {
  const int64_t count = options.num_features();
  check(count > 0, this->name(), ": num_features must be 1 or more, but it is ", count);
  register_affine(*this, options.affine(), {count});
  const bool tracks = options.track_running_stats();
  running_mean = this->register_buffer("running_mean", tracks ? zeros({count}) : Tensor());
  running_var = this->register_buffer("running_var", tracks ? ones({count}) : Tensor());
  num_batches_tracked =
      this->register_buffer("num_batches_tracked", tracks ? zeros({}, kLong) : Tensor());
  reset_parameters();
}

template <class Derived, int least, int most>
void BatchNormImplBase<Derived, least, most>::reset_running_stats() {
  if (!running_mean.defined()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

template <class Derived, int least, int most>
void BatchNormImplBase<Derived, least, most>::reset_parameters() {
  reset_running_stats();
  start_affine(weight, bias);
}

template <class Derived, int least, int most>
void BatchNormImplBase<Derived, least, most>::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << class_name(typeid(Derived)) << '(' << options.num_features()
         << ", eps=" << options.eps() << ", momentum=";
  options.momentum() ? stream << *options.momentum() : stream << "None";
  stream << ", affine=" << options.affine()
         << ", track_running_stats=" << options.track_running_stats() << ')';
}

template <class Derived, int least, int most>
Tensor BatchNormImplBase<Derived, least, most>::forward(const Tensor& input) {
  this->check_defined(input, "input");
  check(input.dim() >= least && input.dim() <= most, this->name(), ": expected ",
        least == most ? std::to_string(least) + "D input (got " : "2D or 3D input (got ",
        input.dim(), "D input); it has shape ", input.sizes());
  std::optional<double> momentum = options.momentum();
  if (this->is_training() && num_batches_tracked.defined()) {
    const NoGradGuard guard;
    num_batches_tracked.add_(1);
    if (!momentum) momentum = 1 / num_batches_tracked.template item<double>();
  }
  const bool by_batch = this->is_training() || !running_mean.defined();
  return functional::batch_norm(input, running_mean, running_var,
                                functional::BatchNormFuncOptions()
                                    .weight(weight)
                                    .bias(bias)
                                    .training(by_batch)
                                    .momentum(momentum)
                                    .eps(options.eps()));
}

template struct BatchNormImplBase<BatchNorm1dImpl, 2, 3>;
template struct BatchNormImplBase<BatchNorm2dImpl, 4, 4>;
template struct BatchNormImplBase<BatchNorm3dImpl, 5, 5>;

void LayerNormImpl::reset() {
  register_affine(*this, options.elementwise_affine(), options.normalized_shape());
  reset_parameters();
}
void LayerNormImpl::reset_parameters() { start_affine(weight, bias); }
void LayerNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << class_name(typeid(*this)) << "(["
         << detail::joined_numbers(options.normalized_shape()) << "], eps=" << options.eps()
         << ", elementwise_affine=" << options.elementwise_affine() << ')';
}
Tensor LayerNormImpl::forward(const Tensor& input) {
  check_defined(input, "input");
  return gradus::layer_norm(input, options.normalized_shape(), weight, bias, options.eps());
}

void GroupNormImpl::reset() {
  register_affine(*this, options.affine(), {options.num_channels()});
  reset_parameters();
}
void GroupNormImpl::reset_parameters() { start_affine(weight, bias); }
void GroupNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << class_name(typeid(*this)) << '(' << options.num_groups() << ", "
         << options.num_channels() << ", eps=" << options.eps() << ", affine=" << options.affine()
         << ')';
}
Tensor GroupNormImpl::forward(const Tensor& input) {
  check_defined(input, "input");
  return gradus::group_norm(input, options.num_groups(), weight, bias, options.eps());
}

}  // namespace gradus::nn
