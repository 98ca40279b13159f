// nn::functional: activations with options, F::elu(x, F::ELUFuncOptions().alpha(0.5)).
#pragma once

#include "gradus/autograd/functions.h"
#include "gradus/nn/options/activation.h"

namespace gradus::nn::functional {

inline Tensor relu(Tensor input, const ReLUFuncOptions& options = {}) {
  return options.inplace() ? input.relu_() : gradus::relu(input);
}
inline Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {}) {
  return options.inplace() ? input.relu6_() : gradus::relu6(input);
}
inline Tensor selu(Tensor input, const SELUFuncOptions& options = {}) {
  return options.inplace() ? input.selu_() : gradus::selu(input);
}
inline Tensor elu(Tensor input, const ELUFuncOptions& options = {}) {
  return options.inplace() ? input.elu_(options.alpha()) : gradus::elu(input, options.alpha());
}
inline Tensor celu(Tensor input, const CELUFuncOptions& options = {}) {
  return options.inplace() ? input.celu_(options.alpha()) : gradus::celu(input, options.alpha());
}
inline Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {}) {
  const double slope = options.negative_slope();
  return options.inplace() ? input.leaky_relu_(slope) : gradus::leaky_relu(input, slope);
}
inline Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {}) {
  const double lower = options.lower(), upper = options.upper();
  return options.inplace() ? input.rrelu_(lower, upper, options.training())
                           : gradus::rrelu(input, lower, upper, options.training());
}
inline Tensor prelu(const Tensor& input, const Tensor& weight) {
  return gradus::prelu(input, weight);
}
inline Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {}) {
  const double lo = options.min_val(), hi = options.max_val();
  return options.inplace() ? input.hardtanh_(lo, hi) : gradus::hardtanh(input, lo, hi);
}
inline Tensor threshold(Tensor input, const ThresholdFuncOptions& options) {
  const double edge = options.threshold(), value = options.value();
  return options.inplace() ? input.threshold_(edge, value) : gradus::threshold(input, edge, value);
}
inline Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {}) {
  return gradus::hardshrink(input, options.lambda());
}
inline Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {}) {
  return gradus::softshrink(input, options.lambda());
}
inline Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {}) {
  return gradus::softplus(input, options.beta(), options.threshold());
}
inline Tensor glu(const Tensor& input, const GLUFuncOptions& options = {}) {
  return gradus::glu(input, options.dim());
}
inline Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {}) {
  return gradus::gelu(input, options.approximate());
}
inline Tensor silu(const Tensor& input) { return gradus::silu(input); }
inline Tensor mish(const Tensor& input) { return gradus::mish(input); }
inline Tensor logsigmoid(const Tensor& input) { return gradus::log_sigmoid(input); }
inline Tensor softsign(const Tensor& input) { return gradus::softsign(input); }
inline Tensor tanhshrink(const Tensor& input) { return gradus::tanhshrink(input); }

inline Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return gradus::softmax(input, options.dim(), options.dtype());
}
inline Tensor softmin(const Tensor& input, const SoftminFuncOptions& options) {
  return gradus::softmax(-input, options.dim(), options.dtype());
}
inline Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return gradus::log_softmax(input, options.dim(), options.dtype());
}

}  // namespace gradus::nn::functional
