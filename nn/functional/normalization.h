// nn::functional: normalize with options, F::normalize(x, F::NormalizeFuncOptions().p(1).dim(-1)).
#pragma once

#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/option.h"

namespace gradus::nn::functional {

struct NormalizeFuncOptions {
  GRADUS_OPTIONS(NormalizeFuncOptions, OPTION(double, p, 2), OPTION(int64_t, dim, 1),
                 OPTION(double, eps, 1e-12));
};

// input over its p-norm along dim, which is taken as eps where it is smaller.
inline Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options = {}) {
  const Tensor norm = input.norm(options.p(), {options.dim()}, /*keepdim=*/true);
  return input / norm.clamp_min(options.eps()).expand_as(input);
}

}  // namespace gradus::nn::functional
