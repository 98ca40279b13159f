// Activations: the rows of activations.def as functions with options, F::elu(x,
// F::ELUFuncOptions().alpha(0.5)), and as modules, and those that need more than a row.
#pragma once

#include <optional>
#include <string>

#include "gradus/nn/layer.h"

namespace gradus::nn {

namespace functional {

inline Tensor logsigmoid(const Tensor& input) { return gradus::log_sigmoid(input); }
inline Tensor softsign(const Tensor& input) { return gradus::softsign(input); }
inline Tensor tanhshrink(const Tensor& input) { return gradus::tanhshrink(input); }
inline Tensor prelu(const Tensor& input, const Tensor& weight) {
  return gradus::prelu(input, weight);
}

}  // namespace functional

// Options have defaults where the first one does: arguments that must be given come first.
#define GRADUS_DEFAULT(first, ...) GRADUS_DEFAULT_##first
#define GRADUS_DEFAULT_ARGUMENT(type, name, ...) __VA_OPT__(= {})
#define GRADUS_DEFAULT_OPTION(...) = {}
#define GRADUS_PASSED_ARGUMENT(type, name, ...) , options.name()
#define GRADUS_PASSED_OPTION(...) GRADUS_PASSED_ARGUMENT(__VA_ARGS__)
#define GRADUS_CALL(function, ...) gradus::function(input GRADUS_EACH(GRADUS_PASSED_, __VA_ARGS__))
#define GRADUS_ACTIVATION(Name, function, result, ...)                                             \
  struct Name##Options {                                                                           \
    GRADUS_OPTIONS(Name##Options, __VA_ARGS__);                                                    \
  };                                                                                               \
  namespace functional {                                                                           \
  using Name##FuncOptions = Name##Options;                                                         \
  inline Tensor function(Tensor input, const Name##Options& options GRADUS_DEFAULT(__VA_ARGS__)) { \
    return result;                                                                                 \
  }                                                                                                \
  }                                                                                                \
  GRADUS_LAYER(Name, FunctionLayer, Name##Options, functional::function);
#define ACTIVATION(Name, function, meaning, ...) \
  GRADUS_ACTIVATION(Name, function, GRADUS_CALL(function, __VA_ARGS__), __VA_ARGS__)
#define IN_PLACE(Name, function, meaning, ...)                                \
  GRADUS_ACTIVATION(Name, function,                                           \
                    options.inplace() ? GRADUS_CALL(function##_, __VA_ARGS__) \
                                      : GRADUS_CALL(function, __VA_ARGS__),   \
                    __VA_ARGS__, OPTION(bool, inplace, false))
#define SWITCH(Name, function, meaning)                                                       \
  GRADUS_ACTIVATION(Name, function,                                                           \
                    options.inplace() ? gradus::function##_(input) : gradus::function(input), \
                    ARGUMENT(bool, inplace, false))
#define PLAIN(Name, function, meaning) \
  GRADUS_LAYER(Name, FunctionLayer, NoOptions, static_cast<Tensor (*)(const Tensor&)>(function));
#include "gradus/nn/activations.def"

// softmax(-x) along dim. Errors: those of softmax.
GRADUS_ACTIVATION(Softmin, softmin, gradus::softmax(-input, options.dim(), options.dtype()),
                  ARGUMENT(int64_t, dim), OPTION(std::optional<ScalarType>, dtype, {}))
#undef GRADUS_ACTIVATION
#undef GRADUS_CALL
#undef GRADUS_DEFAULT
#undef GRADUS_DEFAULT_ARGUMENT
#undef GRADUS_DEFAULT_OPTION
#undef GRADUS_PASSED_ARGUMENT
#undef GRADUS_PASSED_OPTION

struct RReLUOptions {
  GRADUS_OPTIONS(RReLUOptions, OPTION(double, lower, 1.0 / 8), OPTION(double, upper, 1.0 / 3),
                 OPTION(bool, inplace, false));
};

namespace functional {
struct RReLUFuncOptions {
  GRADUS_OPTIONS(RReLUFuncOptions, OPTION(double, lower, 1.0 / 8), OPTION(double, upper, 1.0 / 3),
                 OPTION(bool, training, false), OPTION(bool, inplace, false));
};
inline Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {}) {
  const double lower = options.lower(), upper = options.upper();
  return options.inplace() ? input.rrelu_(lower, upper, options.training())
                           : gradus::rrelu(input, lower, upper, options.training());
}
}  // namespace functional

// leaky_relu with slopes drawn between lower and upper; with their mean after eval(). Input and
// output have the same shape.
// Errors: ValueError for an undefined input, and for a lower above upper.
struct RReLUImpl : Layer<RReLUImpl, RReLUOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& input) {
    check_defined(input, "input");
    return functional::rrelu(input, functional::RReLUFuncOptions()
                                        .lower(options.lower())
                                        .upper(options.upper())
                                        .training(is_training())
                                        .inplace(options.inplace()));
  }
};
GRADUS_MODULE(RReLU);

struct PReLUOptions {
  GRADUS_OPTIONS(PReLUOptions, OPTION(int64_t, num_parameters, 1), OPTION(double, init, 0.25));
};
// x above 0, weight * x below. weight (num_parameters): one number, or one for each channel
// (dimension 1); it starts as init. Input and output have the same shape.
// Errors: ValueError for an undefined input, and for another number of channels.
struct PReLUImpl : Layer<PReLUImpl, PReLUOptions> {
  using Layer::Layer;
  void reset() override {
    weight = register_parameter("weight", full({options.num_parameters()}, options.init()));
  }
  void pretty_print(std::ostream& stream) const override {
    stream << class_name(typeid(*this)) << "(num_parameters=" << options.num_parameters() << ')';
  }
  Tensor forward(const Tensor& input) {
    check_defined(input, "input");
    return functional::prelu(input, weight);
  }

  Tensor weight;
  CallReset call_reset{*this};
};
GRADUS_MODULE(PReLU);

// Softmax over the channels of (N, C, H, W) or (C, H, W), of the same shape.
// Errors: ValueError for an undefined input, and for another number of dimensions.
struct Softmax2dImpl : Layer<Softmax2dImpl> {
  using Layer::Layer;
  Tensor forward(const Tensor& input) {
    check_defined(input, "input");
    check(input.dim() == 3 || input.dim() == 4,
          "Softmax2d requires a 3D or 4D tensor as input, but got ", input.dim(),
          "D; it has shape ", input.sizes(), ", use Softmax(dim) for others");
    return gradus::softmax(input, -3);
  }
};
GRADUS_MODULE(Softmax2d);

namespace functional {
struct GumbelSoftmaxFuncOptions {
  GRADUS_OPTIONS(GumbelSoftmaxFuncOptions, OPTION(double, tau, 1), OPTION(bool, hard, false),
                 OPTION(int, dim, -1));
};
// softmax((logits + Gumbel noise) / tau) along dim: Jang et al., "Categorical reparameterization
// with Gumbel-softmax" (2017). hard: 1 at the largest and 0 elsewhere, with the gradient of the
// soft values.
inline Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {}) {
  const Tensor noise = -empty_like(logits).exponential_().log();
  const Tensor soft = gradus::softmax((logits + noise) / options.tau(), options.dim());
  if (!options.hard()) return soft;
  const Tensor largest = soft.argmax(options.dim(), /*keepdim=*/true);
  return zeros_like(soft).scatter(options.dim(), largest, 1) - soft.detach() + soft;
}
}  // namespace functional

}  // namespace gradus::nn
