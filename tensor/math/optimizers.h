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

// s: the means of g and of its square, and the largest mean of the square so far.
template <>
struct UpdateFormula<UpdateOp::adam> {
  template <int states, class T>
  GRADUS_HD static void step(T& p, T g, T* s, const UpdateCoefficients<UpdateOp::adam, T>& c) {
    p *= c.keep;
    if (c.weight_decay != 0) g += c.weight_decay * p;
    s[0] = c.beta1 * s[0] + c.share1 * g;
    s[1] = c.beta2 * s[1] + c.share2 * g * g;
    if constexpr (states == 3) s[2] = s[1] > s[2] ? s[1] : s[2];
    p -= c.rate * s[0] / (std::sqrt(s[states - 1]) * c.scale + c.eps);
  }
};

}  // namespace gradus
