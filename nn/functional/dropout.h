// nn::functional: dropout with options, F::dropout(x, F::DropoutFuncOptions().p(0.1)).
#pragma once

#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/option.h"

namespace gradus::nn::functional {

struct DropoutFuncOptions {
  GRADUS_OPTIONS(DropoutFuncOptions, OPTION(double, p, 0.5), OPTION(bool, training, true),
                 OPTION(bool, inplace, false));
};
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
inline Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options = {}) {
  return options.inplace() ? input.alpha_dropout_(options.p(), options.training())
                           : gradus::alpha_dropout(input, options.p(), options.training());
}
inline Tensor feature_alpha_dropout(Tensor input,
                                    const FeatureAlphaDropoutFuncOptions& options = {}) {
  return options.inplace() ? input.feature_alpha_dropout_(options.p(), options.training())
                           : gradus::feature_alpha_dropout(input, options.p(), options.training());
}

}  // namespace gradus::nn::functional
