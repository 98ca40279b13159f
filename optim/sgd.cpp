// SGD: its options and its step.
#include "gradus/optim/sgd.h"

namespace gradus::optim {

void SGDOptions::validate() const {
  OptimizerOptions::validate();
  check(!nesterov() || (momentum() > 0 && dampening() == 0),
        "SGD: Nesterov momentum needs momentum above 0 and dampening 0, got momentum = ",
        momentum(), " and dampening = ", dampening());
}

SGD::Update SGD::update(const SGDOptions& o, const SGDParamState& state) const {
  const bool first = !state.momentum_buffer().defined();
  return {.states = o.momentum() != 0,
          .coefficients = {.lr = o.lr(),
                           .momentum = o.momentum(),
                           .share = first ? 1 : 1 - o.dampening(),
                           .weight_decay = o.weight_decay(),
                           .sign = o.maximize() ? -1.0 : 1.0,
                           .nesterov = o.nesterov() ? 1.0 : 0.0}};
}

}  // namespace gradus::optim
