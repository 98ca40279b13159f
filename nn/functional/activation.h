// nn::functional: activations with options, F::elu(x, F::ELUFuncOptions().alpha(0.5)).
#pragma once

#include "gradus/autograd/functions.h"
#include "gradus/nn/options/activation.h"

namespace gradus::nn::functional {

// The rows of activations.def. With `inplace` the input is overwritten.
#define INPLACE(Name, functional, function, ...)                             \
  using Name##FuncOptions = Name##Options;                                   \
  inline Tensor functional(Tensor input, const Name##Options& o = {}) {      \
    return o.inplace() ? input.function##_(__VA_ARGS__)                      \
                       : gradus::function(input __VA_OPT__(, ) __VA_ARGS__); \
  }
#define ACTIVATION(Name, functional, function, ...)                            \
  using Name##FuncOptions = Name##Options;                                     \
  inline Tensor functional(const Tensor& input, const Name##Options& o = {}) { \
    return gradus::function(input, __VA_ARGS__);                               \
  }
#define PLAIN(Name, functional, function) \
  inline Tensor functional(const Tensor& input) { return gradus::function(input); }
#include "gradus/nn/activations.def"

inline Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {}) {
  const double lower = options.lower(), upper = options.upper();
  return options.inplace() ? input.rrelu_(lower, upper, options.training())
                           : gradus::rrelu(input, lower, upper, options.training());
}
inline Tensor prelu(const Tensor& input, const Tensor& weight) {
  return gradus::prelu(input, weight);
}
inline Tensor threshold(Tensor input, const ThresholdFuncOptions& options) {
  const double edge = options.threshold(), value = options.value();
  return options.inplace() ? input.threshold_(edge, value) : gradus::threshold(input, edge, value);
}
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
