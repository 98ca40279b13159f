// One unit of a recurrent cell and its gradient, on host and device: Backend::lstm_cell and
// gru_cell. The arrays begin at the unit, and their gates are `units` apart.
#pragma once

#include "gradus/tensor/math/scalar_functions.h"

namespace gradus::scalar {
inline namespace GRADUS_VARIANT {

template <class T>
GRADUS_HD void lstm_unit(int64_t units, const T* x, const T* s, T c_prev, T* gates, T* c, T* h) {
  const T i = logistic(x[0] + s[0]), f = logistic(x[units] + s[units]);
  const T g = tanh(x[2 * units] + s[2 * units]), o = logistic(x[3 * units] + s[3 * units]);
  gates[0] = i, gates[units] = f, gates[2 * units] = g, gates[3 * units] = o;
  *c = f * c_prev + i * g;
  *h = o * tanh(*c);
}

template <class T>
GRADUS_HD void lstm_unit_grad(int64_t units, T grad_h, T c_prev, const T* gates, T c, T* grad_c,
                              T* grad_x) {
  const T i = gates[0], f = gates[units], g = gates[2 * units], o = gates[3 * units], t = tanh(c);
  const T grad = *grad_c + grad_h * o * (1 - t * t);
  grad_x[0] = grad * g * i * (1 - i);
  grad_x[units] = grad * c_prev * f * (1 - f);
  grad_x[2 * units] = grad * i * (1 - g * g);
  grad_x[3 * units] = grad_h * t * o * (1 - o);
  *grad_c = grad * f;
}

template <class T>
GRADUS_HD void gru_unit(int64_t units, const T* x, const T* s, T h_prev, T* gates, T* h) {
  const T r = logistic(x[0] + s[0]), z = logistic(x[units] + s[units]);
  const T n = tanh(x[2 * units] + r * s[2 * units]);
  gates[0] = r, gates[units] = z, gates[2 * units] = n;
  *h = n + z * (h_prev - n);
}

template <class T>
GRADUS_HD void gru_unit_grad(int64_t units, T h_prev, const T* s, const T* gates, T* grad_h,
                             T* grad_x, T* grad_s) {
  const T r = gates[0], z = gates[units], n = gates[2 * units], grad = *grad_h;
  const T grad_n = grad * (1 - z) * (1 - n * n);
  grad_x[0] = grad_s[0] = grad_n * s[2 * units] * r * (1 - r);
  grad_x[units] = grad_s[units] = grad * (h_prev - n) * z * (1 - z);
  grad_x[2 * units] = grad_n;
  grad_s[2 * units] = grad_n * r;
  *grad_h = grad * z;
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::scalar
