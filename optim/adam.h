// Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015), in PyTorch's form. In
// the amsgrad form u is the largest v so far (Reddi et al., "On the convergence of Adam and
// beyond", 2018).
//
//   g = grad + weight_decay * p
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   p = p - lr / (1 - beta1^step) * m / (sqrt(u / (1 - beta2^step)) + eps)        (else u = v)
//
// maximize: of -grad, as in all that have this option.
#pragma once

#include <tuple>

#include "gradus/optim/optimizer.h"
#include "gradus/tensor/math/optimizers.h"

namespace gradus::optim {

struct AdamParamState : OptimizerParamState {
  GRADUS_FIELDS(AdamParamState, VALUE(int64_t, step, 0), VALUE(Tensor, exp_avg),
                VALUE(Tensor, exp_avg_sq), VALUE(Tensor, max_exp_avg_sq));
};

// The options of Adam and its variants.
template <class Self>
struct AdamOptionsOf : OptimizerCloneableOptions<Self> {
  AdamOptionsOf(double lr, double weight_decay) : lr_(lr), weight_decay_(weight_decay) {}
  using betas_t = std::tuple<double, double>;
  GRADUS_FIELDS(Self, AT_LEAST_0(double, lr), FROM_0_BELOW_1(betas_t, betas, {0.9, 0.999}),
                AT_LEAST_0(double, eps, 1e-8), AT_LEAST_0(double, weight_decay),
                VALUE(bool, amsgrad, false), ADDED(bool, maximize, false));

  Update<UpdateOp::adam> update(const AdamParamState& state) const {
    const auto [beta1, beta2] = betas_;
    // The formula takes grad, and -grad as well where these two are negative: v has no sign.
    const double sign = maximize_ ? -1 : 1;
    Update<UpdateOp::adam> next{.states = amsgrad_ ? 3 : 2,
                                .coefficients = {.decay = 1,
                                                 .weight_decay = sign * weight_decay_,
                                                 .beta1 = beta1,
                                                 .one_minus_beta1 = sign * (1 - beta1),
                                                 .beta2 = beta2,
                                                 .one_minus_beta2 = 1 - beta2,
                                                 .step_size = 0,  // by count()
                                                 .scale = 0,
                                                 .eps = eps_,
                                                 .lr = lr_,
                                                 .step = static_cast<double>(state.step() + 1)}};
    UpdateFormula<UpdateOp::adam>::count(next.coefficients);
    return next;
  }
};

struct AdamOptions : AdamOptionsOf<AdamOptions> {
  AdamOptions(double lr = 1e-3) : AdamOptionsOf(lr, 0) {}  // NOLINT: implicit, as in libtorch
};

struct Adam : TableOptimizer<UpdateOp::adam, AdamOptions, AdamParamState> {
  using TableOptimizer::TableOptimizer;
};

}  // namespace gradus::optim
