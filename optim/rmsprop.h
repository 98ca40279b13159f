// RMSprop: Tieleman and Hinton, "Lecture 6.5 - rmsprop" (2012); centered: Graves, "Generating
// sequences with recurrent neural networks" (2013). The form is PyTorch's:
//
//   g = grad + weight_decay * p
//   s = alpha * s + (1 - alpha) * g^2
//   m = alpha * m + (1 - alpha) * g               (centered; else m = 0)
//   v = momentum * v + g / (sqrt(s - m^2) + eps)
//   p = p - lr * v
#pragma once

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct RMSpropParamState : OptimizerParamState {
  GRADUS_FIELDS(RMSpropParamState, VALUE(int64_t, step, 0), VALUE(Tensor, square_avg),
                VALUE(Tensor, grad_avg), VALUE(Tensor, momentum_buffer));
};

struct RMSpropOptions : OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}  // NOLINT: implicit, as in libtorch
  GRADUS_FIELDS(RMSpropOptions, AT_LEAST_0(double, lr), AT_LEAST_0(double, alpha, 0.99),
                AT_LEAST_0(double, eps, 1e-8), AT_LEAST_0(double, weight_decay, 0),
                AT_LEAST_0(double, momentum, 0), VALUE(bool, centered, false));

  Update<UpdateOp::rmsprop> update(const RMSpropParamState&) const {
    return {.states = 1 + (momentum_ != 0) + centered_,
            .coefficients = {lr_, alpha_, 1 - alpha_, eps_, weight_decay_, momentum_,
                             centered_ ? 1.0 : 0.0},
            .without = centered_ ? 0u : 2u};
  }
};

struct RMSprop : TableOptimizer<UpdateOp::rmsprop, RMSpropOptions, RMSpropParamState> {
  using TableOptimizer::TableOptimizer;
};

}  // namespace gradus::optim
