// NAdam: Dozat, "Incorporating Nesterov momentum into Adam" (2016), in PyTorch's form:
//
//   g = grad + weight_decay * p                     (decoupled_weight_decay: as in AdamW)
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   mu(t) = beta1 * (1 - 0.96^(t * momentum_decay) / 2),   M(t) = mu(1) * ... * mu(t)
//   d = (1 - mu(step)) / (1 - M(step)) * g + mu(step + 1) / (1 - M(step + 1)) * m
//   p = p - lr * d / (sqrt(v / (1 - beta2^step)) + eps)
//
// libtorch has none. PyTorch keeps M(step) in the state as mu_product; here it is computed.
#pragma once

#include <tuple>

#include "gradus/optim/optimizer.h"
#include "gradus/tensor/math/optimizers.h"

namespace gradus::optim {

struct NAdamParamState : OptimizerParamState {
  GRADUS_FIELDS(NAdamParamState, VALUE(int64_t, step, 0), VALUE(Tensor, exp_avg),
                VALUE(Tensor, exp_avg_sq));
};

struct NAdamOptions : OptimizerCloneableOptions<NAdamOptions> {
  NAdamOptions(double lr = 2e-3) : lr_(lr) {}  // NOLINT: implicit, as those of libtorch
  using betas_t = std::tuple<double, double>;
  GRADUS_FIELDS(NAdamOptions, AT_LEAST_0(double, lr), FROM_0_BELOW_1(betas_t, betas, {0.9, 0.999}),
                AT_LEAST_0(double, eps, 1e-8), AT_LEAST_0(double, weight_decay, 0),
                AT_LEAST_0(double, momentum_decay, 4e-3),
                VALUE(bool, decoupled_weight_decay, false), VALUE(bool, maximize, false));

  Update<UpdateOp::nadam> update(const NAdamParamState& state) const {
    const auto [beta1, beta2] = betas_;
    const double sign = maximize_ ? -1 : 1;  // as in Adam
    Update<UpdateOp::nadam> next{
        .states = 2,
        .coefficients = {.decay = decoupled_weight_decay_ ? 1 - lr_ * weight_decay_ : 1,
                         .weight_decay = decoupled_weight_decay_ ? 0 : sign * weight_decay_,
                         .beta1 = beta1,
                         .one_minus_beta1 = sign * (1 - beta1),
                         .beta2 = beta2,
                         .one_minus_beta2 = 1 - beta2,
                         .of_gradient = 0,  // these three by count()
                         .of_mean = 0,
                         .scale = 0,
                         .eps = eps_,
                         .lr = lr_,
                         .momentum_decay = momentum_decay_,
                         .step = static_cast<double>(state.step() + 1)}};
    UpdateFormula<UpdateOp::nadam>::count(next.coefficients);
    return next;
  }
};

struct NAdam : TableOptimizer<UpdateOp::nadam, NAdamOptions, NAdamParamState> {
  using TableOptimizer::TableOptimizer;
};

}  // namespace gradus::optim
