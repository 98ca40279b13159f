// LayerNorm, RMSNorm and GroupNorm: their parameters, and rms_norm.
#include "gradus/nn/modules/normalization.h"

#include <algorithm>
#include <limits>
#include <typeinfo>

#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/one_node.h"
#include "gradus/autograd/ops/window/group_norm.h"
#include "gradus/nn/init.h"
#include "gradus/nn/modules/activation.h"
#include "gradus/nn/modules/conv.h"

namespace gradus::nn {

namespace functional {

Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& options) {
  GRADUS_AUTOCAST(rms_norm, input, options);
  input.operand("rms_norm");
  const std::vector<int64_t>& shape = options.normalized_shape();
  const auto count = static_cast<int64_t>(shape.size());
  const bool fits = count > 0 && input.dim() >= count &&
                    std::equal(shape.begin(), shape.end(), input.sizes().end() - count);
  check(fits, "rms_norm: Given normalized_shape=", IntArrayRef(shape),
        ", expected input with shape [*, ", nn::detail::joined_numbers(shape),
        "], but got input of size ", input.sizes(),
        "; permute the input or change normalized_shape");
  std::vector<int64_t> dims;
  for (int64_t d = 1; d <= count; ++d) dims.push_back(-d);
  const double least = input.scalar_type() == kDouble
                           ? std::numeric_limits<double>::epsilon()
                           : static_cast<double>(std::numeric_limits<float>::epsilon());
  const double eps = options.eps().value_or(least);
  const Tensor x = as_computed(input);  // squares of a half type overflow
  const Tensor out =
      (x * (x.square().mean(dims, /*keepdim=*/true) + eps).rsqrt()).to(input.scalar_type());
  return options.weight().defined() ? (out * options.weight()).to(input.scalar_type()) : out;
}

}  // namespace functional

namespace {

// weight and bias of this shape, or none, but under their names.
template <class Layer>
void register_affine(Layer& layer, bool weight, bool bias, IntArrayRef shape) {
  layer.weight = layer.register_parameter("weight", weight ? empty(shape) : Tensor(), weight);
  layer.bias = layer.register_parameter("bias", bias ? empty(shape) : Tensor(), bias);
}

void check_sizes(const char* name, IntArrayRef normalized_shape) {
  for (const int64_t size : normalized_shape)
    check(size >= 0, name, ": normalized_shape is ", normalized_shape,
          ", expected sizes of 0 or more; give those of the input's last dimensions");
}

void start_affine(const Tensor& weight, const Tensor& bias) {
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
}

}  // namespace

void LayerNormImpl::reset() {
  check_sizes("LayerNorm", options.normalized_shape());
  const bool affine = options.elementwise_affine();
  register_affine(*this, affine, affine && options.bias(), options.normalized_shape());
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

void RMSNormImpl::reset() {
  check_sizes("RMSNorm", options.normalized_shape());
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

void GroupNormImpl::reset() {
  check(options.num_groups() > 0 && options.num_channels() % options.num_groups() == 0,
        "GroupNorm: num_channels is ", options.num_channels(), " and num_groups ",
        options.num_groups(), "; expected groups of equal size");
  register_affine(*this, options.affine(), options.affine(), {options.num_channels()});
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

bool detail::run_with_silu(Module& norm, Module& silu, const Module* last, Tensor& x) {
  if (typeid(norm) != typeid(GroupNormImpl) || typeid(silu) != typeid(SiLUImpl) ||
      norm.is_watched() || silu.is_watched() || !x.defined() || !autograd::group_norm_takes_silu(x))
    return false;
  const auto is = [&](const std::type_info& type) { return typeid(*last) == type; };
  const bool lowers = last && !last->is_watched() &&
                      (is(typeid(Conv2dImpl)) || is(typeid(ConvTranspose2dImpl)) ||
                       is(typeid(Conv3dImpl)) || is(typeid(ConvTranspose3dImpl)));
  const auto& group = static_cast<const GroupNormImpl&>(norm);
  x = Module::with_path(norm, [&] {
    return autograd::group_norm_silu(x, group.options.num_groups(), group.weight, group.bias,
                                     group.options.eps(), lowers);
  });
  return true;
}

}  // namespace gradus::nn
