// Adagrad: Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and
// stochastic optimization" (2011), in PyTorch's form:
//
//   g = grad + weight_decay * p
//   sum = sum + g^2                               (sum = initial_accumulator_value at first)
//   p = p - lr / (1 + (step - 1) * lr_decay) * g / (sqrt(sum) + eps)
#pragma once

#include "gradus/optim/optimizer.h"
#include "gradus/tensor/math/optimizers.h"

namespace gradus::optim {

struct AdagradParamState : OptimizerParamState {
  GRADUS_OPTION(AdagradParamState, Tensor, sum);
  GRADUS_OPTION(AdagradParamState, int64_t, step) = 0;

  Fields fields() override { return {{"sum", &sum_}, {"step", &step_}}; }
};

struct AdagradOptions : OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}  // NOLINT: implicit, as in libtorch
  GRADUS_OPTION(AdagradOptions, double, lr);
  GRADUS_OPTION(AdagradOptions, double, lr_decay) = 0;
  GRADUS_OPTION(AdagradOptions, double, weight_decay) = 0;
  GRADUS_OPTION(AdagradOptions, double, initial_accumulator_value) = 0;
  GRADUS_OPTION(AdagradOptions, double, eps) = 1e-10;

  Fields fields() override {
    return {{"lr", &lr_, 0},
            {"lr_decay", &lr_decay_, 0},
            {"weight_decay", &weight_decay_, 0},
            {"initial_accumulator_value", &initial_accumulator_value_, 0},
            {"eps", &eps_, 0}};
  }
  Update<UpdateOp::adagrad> update(const AdagradParamState& state) const {
    Update<UpdateOp::adagrad> next{
        .states = 1,
        .coefficients = {.weight_decay = weight_decay_,
                         .start = state.sum().defined() ? 0 : initial_accumulator_value_,
                         .rate = 0,  // by count()
                         .eps = eps_,
                         .lr = lr_,
                         .lr_decay = lr_decay_,
                         .step = static_cast<double>(state.step() + 1)}};
    UpdateFormula<UpdateOp::adagrad>::count(next.coefficients);
    return next;
  }
};

// Its parameters have state, with 0 steps and no sum, from the start.
struct Adagrad : TableOptimizer<UpdateOp::adagrad, AdagradOptions, AdagradParamState> {
  Adagrad(std::vector<OptimizerParamGroup> groups, const AdagradOptions& defaults = {})
      : TableOptimizer(std::move(groups), defaults) {
    for (const Tensor& parameter : parameters()) state_of(parameter);
  }
  Adagrad(Tensors params, const AdagradOptions& defaults = {})
      : Adagrad(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
                defaults) {}
};

}  // namespace gradus::optim
