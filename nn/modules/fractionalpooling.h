// FractionalMaxPool2d and FractionalMaxPool3d: maxima of windows that lie at random distances.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

// Either output_size or output_ratio, the output's share of the input's sizes, is given.
// _random_samples: numbers from 0 to 1, (N, C, D), instead of drawn ones.
template <size_t D>
struct FractionalMaxPoolOptions {
  using Sizes = std::optional<ExpandingArray<D>>;
  using Ratios = std::optional<ExpandingArray<D, double>>;
  GRADUS_OPTIONS(FractionalMaxPoolOptions, ARGUMENT(ExpandingArray<D>, kernel_size),
                 OPTION(Sizes, output_size, {}), OPTION(Ratios, output_ratio, {}),
                 OPTION(Tensor, _random_samples, {}));
};
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;

namespace functional {

using FractionalMaxPool2dFuncOptions = FractionalMaxPool2dOptions;
using FractionalMaxPool3dFuncOptions = FractionalMaxPool3dOptions;

// The largest element of each pseudorandom window, and its place: Graham, "Fractional max-pooling"
// (2015). Input (N, C, ...) or (C, ...).
// Errors: ValueError for other shapes or options.
TensorPair fractional_max_pool2d_with_indices(const Tensor& input,
                                              const FractionalMaxPool2dFuncOptions& options);
TensorPair fractional_max_pool3d_with_indices(const Tensor& input,
                                              const FractionalMaxPool3dFuncOptions& options);
inline Tensor fractional_max_pool2d(const Tensor& input,
                                    const FractionalMaxPool2dFuncOptions& options) {
  return std::get<0>(fractional_max_pool2d_with_indices(input, options));
}
inline Tensor fractional_max_pool3d(const Tensor& input,
                                    const FractionalMaxPool3dFuncOptions& options) {
  return std::get<0>(fractional_max_pool3d_with_indices(input, options));
}

}  // namespace functional

// Input (N, C, D sizes) or (C, D sizes), output with sizes of output_size or output_ratio.
// Errors: ValueError for an undefined input, for options that the constructor refuses, and those of
// the function.
template <class Derived, size_t D, auto function>
struct FractionalMaxPoolImpl : Layer<Derived, FractionalMaxPoolOptions<D>> {
  using Base = Layer<Derived, FractionalMaxPoolOptions<D>>;
  using Base::Base;
  void reset() override;
  void pretty_print(std::ostream& stream) const override {
    stream << class_name(typeid(Derived)) << "()";
  }
  Tensor forward(const Tensor& input) { return std::get<0>(forward_with_indices(input)); }
  TensorPair forward_with_indices(const Tensor& input) {
    this->check_defined(input, "input");
    auto with = this->options;
    return function(input, with._random_samples(_random_samples));
  }

  Tensor _random_samples;  // a buffer
  typename Base::CallReset call_reset{*this};
};

namespace detail {
// Errors: ValueError for options that do not say how large the output is.
template <size_t D>
void check_fractions(const std::string& name, const FractionalMaxPoolOptions<D>& options) {
  check(options.output_size() || options.output_ratio(), name,
        " requires specifying either an output_size, or an output_ratio; give one");
  check(!options.output_size() || !options.output_ratio(), name,
        ": only one of output_size and output_ratio may be specified; leave one out");
  if (options.output_ratio())
    for (const double ratio : *options.output_ratio())
      check(ratio > 0 && ratio < 1, name, ": output_ratio must be between 0 and 1 (got ", ratio,
            "); give the output's share of the input");
}
}  // namespace detail

template <class Derived, size_t D, auto function>
void FractionalMaxPoolImpl<Derived, D, function>::reset() {
  detail::check_fractions(this->name(), this->options);
  // A handle of its own, so that copies on other devices leave that of the options.
  const Tensor& given = this->options._random_samples();
  _random_samples =
      this->register_buffer("_random_samples", given.defined() ? given.detach() : given);
}

GRADUS_LAYER(FractionalMaxPool2d, FractionalMaxPoolImpl, 2,
             functional::fractional_max_pool2d_with_indices);
GRADUS_LAYER(FractionalMaxPool3d, FractionalMaxPoolImpl, 3,
             functional::fractional_max_pool3d_with_indices);

}  // namespace gradus::nn
