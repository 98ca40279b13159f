// Stochastic gradient descent in PyTorch's form. The momentum is that of Sutskever et al., "On the
// importance of initialization and momentum in deep learning" (2013):
//
//   d = grad + weight_decay * p
//   v = momentum * v + (1 - dampening) * d        (v = d at the first step)
//   p = p - lr * (nesterov ? d + momentum * v : v)
#pragma once

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct SGDParamState : OptimizerParamState {
  GRADUS_FIELDS(SGDParamState, VALUE(Tensor, momentum_buffer));
};

struct SGDOptions : OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr) : lr_(lr) {}  // NOLINT: implicit, as in libtorch
  GRADUS_FIELDS(SGDOptions, AT_LEAST_0(double, lr), AT_LEAST_0(double, momentum, 0),
                VALUE(double, dampening, 0), AT_LEAST_0(double, weight_decay, 0),
                VALUE(bool, nesterov, false), VALUE(bool, maximize, false));

  // Nesterov momentum needs momentum, and no dampening.
  void validate() const override;
  Update<UpdateOp::sgd> update(const SGDParamState& state) const;
};

struct SGD : TableOptimizer<UpdateOp::sgd, SGDOptions, SGDParamState> {
  using TableOptimizer::TableOptimizer;
};

}  // namespace gradus::optim
