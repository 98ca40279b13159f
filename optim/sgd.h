// Stochastic gradient descent, with momentum as in Sutskever et al., "On the importance of
// initialization and momentum in deep learning" (2013), in PyTorch's form:
//
//   d = grad + weight_decay * p
//   v = momentum * v + (1 - dampening) * d        (v = d at the first step)
//   p = p - lr * (nesterov ? d + momentum * v : v)
#pragma once

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct SGDOptions : OptimizerOptions {
  SGDOptions(double lr) : lr_(lr) {}  // NOLINT: implicit, as in libtorch
  GRADUS_OPTION(SGDOptions, double, lr);
  GRADUS_OPTION(SGDOptions, double, momentum) = 0;
  GRADUS_OPTION(SGDOptions, double, dampening) = 0;
  GRADUS_OPTION(SGDOptions, double, weight_decay) = 0;
  GRADUS_OPTION(SGDOptions, bool, nesterov) = false;
  GRADUS_OPTION(SGDOptions, bool, maximize) = false;

  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<SGDOptions>(*this);
  }
  double get_lr() const override { return lr(); }
  void set_lr(double value) override { lr(value); }
  Fields fields() override {
    return {{"lr", &lr_},
            {"momentum", &momentum_},
            {"dampening", &dampening_},
            {"weight_decay", &weight_decay_},
            {"nesterov", &nesterov_},
            {"maximize", &maximize_}};
  }
  void validate() const override;
};

struct SGDParamState : OptimizerParamState {
  GRADUS_OPTION(SGDParamState, Tensor, momentum_buffer);

  Fields fields() override { return {{"momentum_buffer", &momentum_buffer_}}; }
};

// Errors: ValueError for a negative lr, momentum or weight decay, and for Nesterov momentum without
// momentum or with dampening.
class SGD : public Optimizer {
 public:
  SGD(Tensors params, const SGDOptions& options)
      : SGD(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, options) {}
  SGD(std::vector<OptimizerParamGroup> groups, const SGDOptions& options);
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override {
    return std::make_unique<SGDParamState>();
  }
};

}  // namespace gradus::optim
