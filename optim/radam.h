// RAdam: Liu et al., "On the variance of the adaptive learning rate and beyond" (2020), in
// PyTorch's form:
//
//   g = grad + weight_decay * p                     (decoupled_weight_decay: as in AdamW)
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   R = 2 / (1 - beta2) - 1,   r = R - 2 * step * beta2^step / (1 - beta2^step)
//   c = sqrt((r - 4) * (r - 2) * R / ((R - 4) * (R - 2) * r)) * sqrt(1 - beta2^step)
//   p = p - lr * m / (1 - beta1^step) * (r > 5 ? c / (sqrt(v) + eps) : 1)
//
// libtorch has none.
#pragma once

#include <tuple>

#include "gradus/optim/optimizer.h"
#include "gradus/tensor/math/optimizers.h"

namespace gradus::optim {

struct RAdamParamState : OptimizerParamState {
  GRADUS_FIELDS(RAdamParamState, VALUE(int64_t, step, 0), VALUE(Tensor, exp_avg),
                VALUE(Tensor, exp_avg_sq));
};

struct RAdamOptions : OptimizerCloneableOptions<RAdamOptions> {
  RAdamOptions(double lr = 1e-3) : lr_(lr) {}  // NOLINT: implicit, as those of libtorch
  using betas_t = std::tuple<double, double>;
  GRADUS_FIELDS(RAdamOptions, AT_LEAST_0(double, lr), FROM_0_BELOW_1(betas_t, betas, {0.9, 0.999}),
                AT_LEAST_0(double, eps, 1e-8), AT_LEAST_0(double, weight_decay, 0),
                VALUE(bool, decoupled_weight_decay, false), VALUE(bool, maximize, false));

  Update<UpdateOp::radam> update(const RAdamParamState& state) const {
    const auto [beta1, beta2] = betas_;
    const double sign = maximize_ ? -1 : 1;  // as in Adam
    Update<UpdateOp::radam> next{
        .states = 2,
        .coefficients = {.decay = decoupled_weight_decay_ ? 1 - lr_ * weight_decay_ : 1,
                         .weight_decay = decoupled_weight_decay_ ? 0 : sign * weight_decay_,
                         .beta1 = beta1,
                         .one_minus_beta1 = sign * (1 - beta1),
                         .beta2 = beta2,
                         .one_minus_beta2 = 1 - beta2,
                         .step_size = 0,  // these two by count()
                         .rectified = 0,
                         .eps = eps_,
                         .lr = lr_,
                         .step = static_cast<double>(state.step() + 1)}};
    UpdateFormula<UpdateOp::radam>::count(next.coefficients);
    return next;
  }
};

struct RAdam : TableOptimizer<UpdateOp::radam, RAdamOptions, RAdamParamState> {
  using TableOptimizer::TableOptimizer;
};

}  // namespace gradus::optim
