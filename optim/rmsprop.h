// RMSprop: Tieleman and Hinton, "Lecture 6.5 - rmsprop" (2012); centered: Graves, "Generating
// sequences with recurrent neural networks" (2013). In PyTorch's form:
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
  GRADUS_OPTION(RMSpropParamState, int64_t, step) = 0;
  GRADUS_OPTION(RMSpropParamState, Tensor, square_avg);
  GRADUS_OPTION(RMSpropParamState, Tensor, momentum_buffer);
  GRADUS_OPTION(RMSpropParamState, Tensor, grad_avg);

  Fields fields() override {
    return {{"step", &step_},
            {"square_avg", &square_avg_},
            {"grad_avg", &grad_avg_},
            {"momentum_buffer", &momentum_buffer_}};
  }
};

struct RMSpropOptions : OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}  // NOLINT: implicit, as in libtorch
  GRADUS_OPTION(RMSpropOptions, double, lr);
  GRADUS_OPTION(RMSpropOptions, double, alpha) = 0.99;
  GRADUS_OPTION(RMSpropOptions, double, eps) = 1e-8;
  GRADUS_OPTION(RMSpropOptions, double, weight_decay) = 0;
  GRADUS_OPTION(RMSpropOptions, double, momentum) = 0;
  GRADUS_OPTION(RMSpropOptions, bool, centered) = false;

  Fields fields() override {
    return {{"lr", &lr_, 0},
            {"alpha", &alpha_, 0},
            {"eps", &eps_, 0},
            {"weight_decay", &weight_decay_, 0},
            {"momentum", &momentum_, 0},
            {"centered", &centered_}};
  }
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
