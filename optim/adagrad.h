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
  GRADUS_FIELDS(AdagradParamState, VALUE(Tensor, sum), VALUE(int64_t, step, 0));
};

struct AdagradOptions : OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}  // NOLINT: implicit, as in libtorch
  GRADUS_FIELDS(AdagradOptions, AT_LEAST_0(double, lr), AT_LEAST_0(double, lr_decay, 0),
                AT_LEAST_0(double, weight_decay, 0),
                AT_LEAST_0(double, initial_accumulator_value, 0), AT_LEAST_0(double, eps, 1e-10));

  Update<UpdateOp::adagrad> update(const AdagradParamState& state) const {
    Update<UpdateOp::adagrad> next{
        .states = 1,
        .coefficients = {.weight_decay = weight_decay_,
                         .start = state.sum().defined() ? 0 : initial_accumulator_value_,
                         .step_size = 0,  // by count()
                         .eps = eps_,
                         .lr = lr_,
                         .lr_decay = lr_decay_,
                         .step = static_cast<double>(state.step() + 1)}};
    UpdateFormula<UpdateOp::adagrad>::count(next.coefficients);
    return next;
  }
};

// Every parameter has its state from the start, with 0 steps and an undefined sum.
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
