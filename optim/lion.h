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
  GRADUS_OPTION(LionParamState, Tensor, exp_avg);

  Fields fields() override { return {{"exp_avg", &exp_avg_}}; }
};

struct LionOptions : OptimizerCloneableOptions<LionOptions> {
  LionOptions(double lr = 1e-4) : lr_(lr) {}  // NOLINT: implicit, as those of libtorch
  using betas_t = std::tuple<double, double>;
  GRADUS_OPTION(LionOptions, double, lr);
  GRADUS_OPTION(LionOptions, betas_t, betas) = {0.9, 0.99};
  GRADUS_OPTION(LionOptions, double, weight_decay) = 0;

  Fields fields() override {
    auto& [beta1, beta2] = betas_;
    return {{"lr", &lr_, 0},
            {"betas.0", &beta1, 0, 1},
            {"betas.1", &beta2, 0, 1},
            {"weight_decay", &weight_decay_, 0}};
  }
  Update<UpdateOp::lion> update(const LionParamState&) const {
    const auto [beta1, beta2] = betas_;
    return {1, {1 - lr_ * weight_decay_, beta1, 1 - beta1, beta2, 1 - beta2, lr_}};
  }
};

struct Lion : TableOptimizer<UpdateOp::lion, LionOptions, LionParamState> {
  using TableOptimizer::TableOptimizer;
};

}  // namespace gradus::optim
