// Adadelta: Zeiler, "ADADELTA: an adaptive learning rate method" (2012), in PyTorch's form:
//
//   g = grad + weight_decay * p
//   s = rho * s + (1 - rho) * g^2
//   d = sqrt(a + eps) / sqrt(s + eps) * g
//   a = rho * a + (1 - rho) * d^2
//   p = p - lr * d
//
// libtorch has none.
#pragma once

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct AdadeltaParamState : OptimizerParamState {
  GRADUS_FIELDS(AdadeltaParamState, VALUE(int64_t, step, 0), VALUE(Tensor, square_avg),
                VALUE(Tensor, acc_delta));
};

struct AdadeltaOptions : OptimizerCloneableOptions<AdadeltaOptions> {
  AdadeltaOptions(double lr = 1) : lr_(lr) {}  // NOLINT: implicit, as those of libtorch
  GRADUS_FIELDS(AdadeltaOptions, AT_LEAST_0(double, lr), FROM_0_BELOW_1(double, rho, 0.9),
                AT_LEAST_0(double, eps, 1e-6), AT_LEAST_0(double, weight_decay, 0),
                VALUE(bool, maximize, false));

  Update<UpdateOp::adadelta> update(const AdadeltaParamState&) const {
    const double sign =
        maximize_ ? -1 : 1;  // the formula takes grad: d is odd in it, s and a are even
    return {.states = 2,
            .coefficients = {.lr = sign * lr_,
                             .rho = rho_,
                             .share = 1 - rho_,
                             .eps = eps_,
                             .weight_decay = sign * weight_decay_}};
  }
};

struct Adadelta : TableOptimizer<UpdateOp::adadelta, AdadeltaOptions, AdadeltaParamState> {
  using TableOptimizer::TableOptimizer;
};

}  // namespace gradus::optim
