// Stochastic gradient descent, with momentum as in Sutskever et al., "On the importance of
// initialization and momentum in deep learning" (2013), in PyTorch's form:
//
//   d = grad + weight_decay * p
//   v = momentum * v + (1 - dampening) * d        (v = d at the first step)
//   p = p - lr * (nesterov ? d + momentum * v : v)
#pragma once

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct SGDParamState : OptimizerParamState {
  GRADUS_OPTION(SGDParamState, Tensor, momentum_buffer);

  Fields fields() override { return {{"momentum_buffer", &momentum_buffer_}}; }
};

struct SGDOptions : OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr) : lr_(lr) {}  // NOLINT: implicit, as in libtorch
  GRADUS_OPTION(SGDOptions, double, lr);
  GRADUS_OPTION(SGDOptions, double, momentum) = 0;
  GRADUS_OPTION(SGDOptions, double, dampening) = 0;
  GRADUS_OPTION(SGDOptions, double, weight_decay) = 0;
  GRADUS_OPTION(SGDOptions, bool, nesterov) = false;
  GRADUS_OPTION(SGDOptions, bool, maximize) = false;

  Fields fields() override {
    return {{"lr", &lr_, 0},
            {"momentum", &momentum_, 0},
            {"dampening", &dampening_},
            {"weight_decay", &weight_decay_, 0},
            {"nesterov", &nesterov_},
            {"maximize", &maximize_}};
  }
  // Nesterov momentum needs momentum, and no dampening.
  void validate() const override;
  Update<UpdateOp::sgd> update(const SGDParamState& state) const;
};

struct SGD : TableOptimizer<UpdateOp::sgd, SGDOptions, SGDParamState> {
  using TableOptimizer::TableOptimizer;
};

}  // namespace gradus::optim
