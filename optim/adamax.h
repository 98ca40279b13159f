// Adamax, the form of Adam by the largest gradient (Kingma and Ba, "Adam: a method for stochastic
// optimization", 2015), in PyTorch's form:
//
//   g = grad + weight_decay * p
//   m = beta1 * m + (1 - beta1) * g
//   u = max(beta2 * u, |g| + eps)
//   p = p - lr / (1 - beta1^step) * m / u
//
// libtorch has none.
#pragma once

#include <tuple>

#include "gradus/optim/optimizer.h"
#include "gradus/tensor/math/optimizers.h"

namespace gradus::optim {

struct AdamaxParamState : OptimizerParamState {
  GRADUS_FIELDS(AdamaxParamState, VALUE(int64_t, step, 0), VALUE(Tensor, exp_avg),
                VALUE(Tensor, exp_inf));
};

struct AdamaxOptions : OptimizerCloneableOptions<AdamaxOptions> {
  AdamaxOptions(double lr = 2e-3) : lr_(lr) {}  // NOLINT: implicit, as those of libtorch
  using betas_t = std::tuple<double, double>;
  GRADUS_FIELDS(AdamaxOptions, AT_LEAST_0(double, lr), FROM_0_BELOW_1(betas_t, betas, {0.9, 0.999}),
                AT_LEAST_0(double, eps, 1e-8), AT_LEAST_0(double, weight_decay, 0),
                VALUE(bool, maximize, false));

  Update<UpdateOp::adamax> update(const AdamaxParamState& state) const {
    const auto [beta1, beta2] = betas_;
    const double sign = maximize_ ? -1 : 1;  // as in Adam
    Update<UpdateOp::adamax> next{.states = 2,
                                  .coefficients = {.weight_decay = sign * weight_decay_,
                                                   .beta1 = beta1,
                                                   .one_minus_beta1 = sign * (1 - beta1),
                                                   .beta2 = beta2,
                                                   .step_size = 0,  // by count()
                                                   .eps = eps_,
                                                   .lr = lr_,
                                                   .step = static_cast<double>(state.step() + 1)}};
    UpdateFormula<UpdateOp::adamax>::count(next.coefficients);
    return next;
  }
};

struct Adamax : TableOptimizer<UpdateOp::adamax, AdamaxOptions, AdamaxParamState> {
  using TableOptimizer::TableOptimizer;
};

}  // namespace gradus::optim
