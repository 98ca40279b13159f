// Lion: Chen et al., "Symbolic discovery of optimization algorithms" (2023), algorithm 2:
//
//   u = sign(beta1 * m + (1 - beta1) * grad)
//   p = p - lr * (u + weight_decay * p)
//   m = beta2 * m + (1 - beta2) * grad
//
// libtorch has no Lion. The names are those of its Adam.
#pragma once

#include <tuple>

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct LionParamState : OptimizerParamState {
  GRADUS_FIELDS(LionParamState, VALUE(Tensor, exp_avg));
};

struct LionOptions : OptimizerCloneableOptions<LionOptions> {
  LionOptions(double lr = 1e-4) : lr_(lr) {}  // NOLINT: implicit, as those of libtorch
  using betas_t = std::tuple<double, double>;
  GRADUS_FIELDS(LionOptions, AT_LEAST_0(double, lr), FROM_0_BELOW_1(betas_t, betas, {0.9, 0.99}),
                AT_LEAST_0(double, weight_decay, 0));

  Update<UpdateOp::lion> update(const LionParamState&) const {
    const auto [beta1, beta2] = betas_;
    return {1, {1 - lr_ * weight_decay_, beta1, 1 - beta1, beta2, 1 - beta2, lr_}};
  }
};

struct Lion : TableOptimizer<UpdateOp::lion, LionOptions, LionParamState> {
  using TableOptimizer::TableOptimizer;
};

}  // namespace gradus::optim
