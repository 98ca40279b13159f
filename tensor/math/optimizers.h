// The formulas of optimizers.def for one element, on host and device: those of PyTorch.
#pragma once

#include <cmath>

#include "gradus/tensor/base/host_device.h"
#include "gradus/tensor/table/optimizers.h"

namespace gradus {

// step<states>(p, g, s, c) changes the parameter p by its gradient g. s holds as many numbers as
// there are states, each 0 before the first step, and takes their new values.
template <UpdateOp>
struct UpdateFormula;

template <>
struct UpdateFormula<UpdateOp::sgd> {
  template <int states, class T>
  GRADUS_HD static void step(T& p, T g, [[maybe_unused]] T* s,
                             const UpdateCoefficients<UpdateOp::sgd, T>& c) {
    T direction = c.sign * g;
    if (c.weight_decay != 0) direction += c.weight_decay * p;
    if constexpr (states == 1) {
      s[0] = c.momentum * s[0] + c.share * direction;
      direction = c.nesterov != 0 ? direction + c.momentum * s[0] : s[0];
    }
    p -= c.lr * direction;
  }
};

}  // namespace gradus
