// SGD: its options and its step.
#include "gradus/optim/sgd.h"

namespace gradus::optim {

void SGDOptions::validate() const {
  OptimizerOptions::validate();
  check(!nesterov() || (momentum() > 0 && dampening() == 0),
        "SGD: Nesterov momentum needs momentum above 0 and dampening 0, got momentum = ",
        momentum(), " and dampening = ", dampening());
}

Update<UpdateOp::sgd> SGDOptions::update(const SGDParamState& state) const {
  const bool first = !state.momentum_buffer().defined();
  return {.states = momentum() != 0,
          .coefficients = {.lr = lr(),
                           .momentum = momentum(),
                           .share = first ? 1 : 1 - dampening(),
                           .weight_decay = weight_decay(),
                           .sign = maximize() ? -1.0 : 1.0,
                           .nesterov = nesterov() ? 1.0 : 0.0}};
}

}  // namespace gradus::optim
