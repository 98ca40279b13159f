// AdamW: Adam whose weight decay stays out of the gradient, p = (1 - lr * weight_decay) * p before
// each step: Loshchilov and Hutter, "Decoupled weight decay regularization" (2019).
#pragma once

#include "gradus/optim/adam.h"

namespace gradus::optim {

using AdamWParamState = AdamParamState;

struct AdamWOptions : AdamOptionsOf<AdamWOptions> {
  AdamWOptions(double lr = 1e-3) : AdamOptionsOf(lr, 1e-2) {}  // NOLINT: implicit, as in libtorch

  Update<UpdateOp::adam> update(const AdamWParamState& state) const {
    auto next = AdamOptionsOf::update(state);
    next.coefficients.decay = 1 - lr() * weight_decay();
    next.coefficients.weight_decay = 0;
    return next;
  }
};

struct AdamW : TableOptimizer<UpdateOp::adam, AdamWOptions, AdamWParamState> {
  using TableOptimizer::TableOptimizer;
};

}  // namespace gradus::optim
