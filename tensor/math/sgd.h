// One element's step of stochastic gradient descent, for host and device: PyTorch's formulas.
#pragma once

#include "gradus/tensor/backend.h"
#include "gradus/tensor/math/elementwise.h"

namespace gradus {

// SgdSettings in the type of the parameters, so that no float kernel computes in double.
template <class T>
struct SgdCoefficients {
  explicit SgdCoefficients(const SgdSettings& s)
      : lr(static_cast<T>(s.lr)),
        momentum(static_cast<T>(s.momentum)),
        share(static_cast<T>(1 - s.dampening)),
        weight_decay(static_cast<T>(s.weight_decay)),
        nesterov(s.nesterov),
        maximize(s.maximize),
        first(s.first) {}

  T lr, momentum;
  T share;  // of the gradient that enters the buffer: 1 - dampening
  T weight_decay;
  bool nesterov, maximize, first;
};

// Steps `parameter` against `gradient`; *buffer is the velocity, null without momentum.
template <class T>
GRADUS_HD void sgd_update(T& parameter, T gradient, T* buffer, const SgdCoefficients<T>& c) {
  T direction = c.maximize ? -gradient : gradient;
  if (c.weight_decay != 0) direction += c.weight_decay * parameter;
  if (buffer) {
    *buffer = c.first ? direction : c.momentum * *buffer + c.share * direction;
    direction = c.nesterov ? direction + c.momentum * *buffer : *buffer;
  }
  parameter -= c.lr * direction;
}

}  // namespace gradus
