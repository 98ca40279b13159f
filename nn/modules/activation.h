// Activations: the rows of activations.def as functions with options, F::elu(x,
// F::ELUFuncOptions().alpha(0.5)), and as modules, and those that need more than a row.
#pragma once

#include <optional>
#include <string>

#include "gradus/nn/layer.h"

namespace gradus::nn {

// The module of a function.
template <class Derived, class Options, auto function>
struct Activation : Layer<Derived, Options> {
  using Layer<Derived, Options>::Layer;

  // Errors: ValueError for an undefined input, and those of the function.
  Tensor forward(const Tensor& input) {
    this->check_defined(input, "input");
    if constexpr (std::is_same_v<Options, NoOptions>)
      return function(input);
    else
      return function(input, this->options);
  }
};

namespace functional {

inline Tensor silu(const Tensor& input) { return gradus::silu(input); }
inline Tensor mish(const Tensor& input) { return gradus::mish(input); }
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
  struct Name##Impl : Activation<Name##Impl, Name##Options, functional::function> {                \
    using Activation::Activation;                                                                  \
  };                                                                                               \
  GRADUS_MODULE(Name);
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
#define PLAIN(Name, function, meaning)                                                        \
  struct Name##Impl                                                                           \
      : Activation<Name##Impl, NoOptions, static_cast<Tensor (*)(const Tensor&)>(function)> { \
    using Activation::Activation;                                                             \
  };                                                                                          \
  GRADUS_MODULE(Name);
#include "gradus/nn/activations.def"

// softmax(-x) along dim.
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

// leaky_relu with slopes drawn between lower and upper; with their mean after eval().
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

}  // namespace gradus::nn
