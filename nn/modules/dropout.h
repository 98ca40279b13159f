// Dropout and its kin, as functions, F::dropout(x, F::DropoutFuncOptions().p(0.1)), and as modules.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

struct DropoutOptions {
  GRADUS_OPTIONS(DropoutOptions, ARGUMENT(double, p, 0.5), OPTION(bool, inplace, false));
};
using Dropout1dOptions = DropoutOptions;
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

namespace functional {

struct DropoutFuncOptions {
  GRADUS_OPTIONS(DropoutFuncOptions, OPTION(double, p, 0.5), OPTION(bool, training, true),
                 OPTION(bool, inplace, false));
};
using Dropout1dFuncOptions = DropoutFuncOptions;
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;

// libtorch's default differs from that of the others.
struct AlphaDropoutFuncOptions {
  GRADUS_OPTIONS(AlphaDropoutFuncOptions, OPTION(double, p, 0.5), OPTION(bool, training, false),
                 OPTION(bool, inplace, false));
};
using FeatureAlphaDropoutFuncOptions = AlphaDropoutFuncOptions;

inline Tensor dropout(Tensor input, const DropoutFuncOptions& options = {}) {
  return options.inplace() ? input.dropout_(options.p(), options.training())
                           : gradus::dropout(input, options.p(), options.training());
}
// Whole channels (dimension 1) at once.
inline Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {}) {
  return options.inplace() ? input.feature_dropout_(options.p(), options.training())
                           : gradus::feature_dropout(input, options.p(), options.training());
}
inline Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options = {}) {
  return dropout2d(std::move(input), options);
}
// The input is (N, C, L) or (C, L). Errors: also ValueError for another number of dimensions.
inline Tensor dropout1d(Tensor input, const Dropout1dFuncOptions& options = {}) {
  const int64_t dims = input.operand("dropout1d").dim();
  check(dims == 2 || dims == 3, "dropout1d: Expected 2D or 3D input, but received a ", dims,
        "D input; use dropout for others");
  if (dims == 3) return dropout2d(std::move(input), options);
  const Tensor out = dropout2d(input.unsqueeze(0), options);
  return options.inplace() ? input : out.squeeze(0);
}
inline Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options = {}) {
  return options.inplace() ? input.alpha_dropout_(options.p(), options.training())
                           : gradus::alpha_dropout(input, options.p(), options.training());
}
inline Tensor feature_alpha_dropout(Tensor input,
                                    const FeatureAlphaDropoutFuncOptions& options = {}) {
  return options.inplace() ? input.feature_alpha_dropout_(options.p(), options.training())
                           : gradus::feature_alpha_dropout(input, options.p(), options.training());
}

}  // namespace functional

// The common part of all dropouts. Each element is left out with probability p, and the others grow
// by 1 / (1 - p). 1d, 2d, 3d and Feature leave out whole channels. The Alpha ones keep mean and
// deviation instead of growing. The output is the input after eval(). Input and output have the
// same shape.
// Errors: ValueError for a p outside of [0, 1], and for an undefined input.
template <class Derived, class FuncOptions, auto function>
struct DropoutBase : Layer<Derived, DropoutOptions> {
  using Layer<Derived, DropoutOptions>::Layer;
  using Layer<Derived, DropoutOptions>::options;
  void reset() override {
    check(options.p() >= 0 && options.p() <= 1, this->name(),
          ": dropout probability has to be between 0 and 1, but got ", options.p(),
          "; give the share of elements that become 0");
  }
  void pretty_print(std::ostream& stream) const override {
    stream << class_name(typeid(Derived)) << "(p=" << options.p() << ", inplace=" << std::boolalpha
           << options.inplace() << ')';
  }
  Tensor forward(const Tensor& input) {
    this->check_defined(input, "input");
    return function(
        input,
        FuncOptions().p(options.p()).training(this->is_training()).inplace(options.inplace()));
  }
  typename Layer<Derived, DropoutOptions>::CallReset call_reset{*this};
};

GRADUS_LAYER(Dropout, DropoutBase, functional::DropoutFuncOptions, functional::dropout);
GRADUS_LAYER(Dropout1d, DropoutBase, functional::Dropout1dFuncOptions, functional::dropout1d);
GRADUS_LAYER(Dropout2d, DropoutBase, functional::Dropout2dFuncOptions, functional::dropout2d);
GRADUS_LAYER(Dropout3d, DropoutBase, functional::Dropout3dFuncOptions, functional::dropout3d);
GRADUS_LAYER(AlphaDropout, DropoutBase, functional::AlphaDropoutFuncOptions,
             functional::alpha_dropout);
GRADUS_LAYER(FeatureAlphaDropout, DropoutBase, functional::FeatureAlphaDropoutFuncOptions,
             functional::feature_alpha_dropout);

}  // namespace gradus::nn
