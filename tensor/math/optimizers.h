// The formulas of optimizers.def for one element, on host and device: those of PyTorch.
#pragma once

#include <cmath>

#include "gradus/tensor/base/host_device.h"
#include "gradus/tensor/table/optimizers.h"

namespace gradus {

// step<states>(p, g, s, c) changes the parameter p by its gradient g. s holds as many numbers as
// there are states, each 0 before the first step, and takes their new values. count(c) computes the
// coefficients that depend on c.step, the number of the step, where a row has that.
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
    p *= c.decay;
    if (c.weight_decay != 0) g += c.weight_decay * p;
    s[0] = c.beta1 * s[0] + c.one_minus_beta1 * g;
    s[1] = c.beta2 * s[1] + c.one_minus_beta2 * g * g;
    if constexpr (states == 3) s[2] = s[1] > s[2] ? s[1] : s[2];
    p -= c.step_size * s[0] / (std::sqrt(s[states - 1]) * c.scale + c.eps);
  }
  GRADUS_HD static void count(UpdateCoefficients<UpdateOp::adam, double>& c) {
    c.step_size = c.lr / (1 - std::pow(c.beta1, c.step));
    c.scale = 1 / std::sqrt(1 - std::pow(c.beta2, c.step));
  }
};

// s: the sum of the squares of g.
template <>
struct UpdateFormula<UpdateOp::adagrad> {
  template <int, class T>
  GRADUS_HD static void step(T& p, T g, T* s, const UpdateCoefficients<UpdateOp::adagrad, T>& c) {
    if (c.weight_decay != 0) g += c.weight_decay * p;
    s[0] += c.start + g * g;
    p -= c.step_size * g / (std::sqrt(s[0]) + c.eps);
  }
  // One rounding, so that all compilers make the same bits of it.
  GRADUS_HD static void count(UpdateCoefficients<UpdateOp::adagrad, double>& c) {
    c.step_size = c.lr / std::fma(c.step - 1, c.lr_decay, 1.0);
  }
};

// s: the mean of the square of g, that of g if it is centered, and the velocity with momentum.
template <>
struct UpdateFormula<UpdateOp::rmsprop> {
  template <int states, class T>
  GRADUS_HD static void step(T& p, T g, T* s, const UpdateCoefficients<UpdateOp::rmsprop, T>& c) {
    if (c.weight_decay != 0) g += c.weight_decay * p;
    s[0] = c.alpha * s[0] + c.share * g * g;
    T square = s[0];
    if constexpr (states > 1)
      if (c.centered != 0) {
        s[1] = c.alpha * s[1] + c.share * g;
        square -= s[1] * s[1];
      }
    T velocity = g / (std::sqrt(square) + c.eps);
    if constexpr (states > 1)
      if (states == 3 || c.centered == 0) {
        velocity += c.momentum * s[states - 1];
        s[states - 1] = velocity;
      }
    p -= c.lr * velocity;
  }
};

// s: the mean of g.
template <>
struct UpdateFormula<UpdateOp::lion> {
  template <int, class T>
  GRADUS_HD static void step(T& p, T g, T* s, const UpdateCoefficients<UpdateOp::lion, T>& c) {
    const T direction = c.beta1 * s[0] + c.one_minus_beta1 * g;
    p = c.decay * p - c.lr * static_cast<T>((direction > 0) - (direction < 0));
    s[0] = c.beta2 * s[0] + c.one_minus_beta2 * g;
  }
};

// s: the mean of g, and the largest of |g|, which decays.
template <>
struct UpdateFormula<UpdateOp::adamax> {
  template <int, class T>
  GRADUS_HD static void step(T& p, T g, T* s, const UpdateCoefficients<UpdateOp::adamax, T>& c) {
    if (c.weight_decay != 0) g += c.weight_decay * p;
    s[0] = c.beta1 * s[0] + c.one_minus_beta1 * g;
    const T decayed = c.beta2 * s[1], size = std::abs(g) + c.eps;
    s[1] = decayed > size ? decayed : size;
    p -= c.step_size * s[0] / s[1];
  }
  GRADUS_HD static void count(UpdateCoefficients<UpdateOp::adamax, double>& c) {
    c.step_size = c.lr / (1 - std::pow(c.beta1, c.step));
  }
};

// s: the means of g and of its square.
template <>
struct UpdateFormula<UpdateOp::nadam> {
  template <int, class T>
  GRADUS_HD static void step(T& p, T g, T* s, const UpdateCoefficients<UpdateOp::nadam, T>& c) {
    p *= c.decay;
    if (c.weight_decay != 0) g += c.weight_decay * p;
    const T share = c.one_minus_beta1 * g;
    s[0] = c.beta1 * s[0] + share;
    s[1] = c.beta2 * s[1] + c.one_minus_beta2 * g * g;
    p -= (c.of_gradient * share + c.of_mean * s[0]) / (std::sqrt(s[1]) * c.scale + c.eps);
  }
  GRADUS_HD static void count(UpdateCoefficients<UpdateOp::nadam, double>& c) {
    const auto momentum = [&](double step) {
      return c.beta1 * (1 - 0.5 * std::pow(0.96, step * c.momentum_decay));
    };
    const double now = momentum(c.step), next = momentum(c.step + 1);
    double product = now;  // of all momenta so far; a smaller one is lost beside 1
    for (double i = 1; i < c.step && product > 1e-20; ++i) product *= momentum(i);
    c.of_gradient = c.lr * (1 - now) / ((1 - product) * (1 - c.beta1));
    c.of_mean = c.lr * next / (1 - product * next);
    c.scale = 1 / std::sqrt(1 - std::pow(c.beta2, c.step));
  }
};

// s: the means of g and of its square, which divides where its variance is known: then rectified is
// not 0.
template <>
struct UpdateFormula<UpdateOp::radam> {
  template <int, class T>
  GRADUS_HD static void step(T& p, T g, T* s, const UpdateCoefficients<UpdateOp::radam, T>& c) {
    p *= c.decay;
    if (c.weight_decay != 0) g += c.weight_decay * p;
    s[0] = c.beta1 * s[0] + c.one_minus_beta1 * g;
    s[1] = c.beta2 * s[1] + c.one_minus_beta2 * g * g;
    p -= c.step_size * s[0] / (c.rectified != 0 ? std::sqrt(s[1]) + c.eps : T(1));
  }
  GRADUS_HD static void count(UpdateCoefficients<UpdateOp::radam, double>& c) {
    const double power = std::pow(c.beta2, c.step), most = 2 / (1 - c.beta2) - 1;
    const double length = most - 2 * c.step * power / (1 - power);
    c.rectified = length > 5;
    c.step_size = c.lr / (1 - std::pow(c.beta1, c.step));
    if (c.rectified != 0)
      c.step_size *= std::sqrt((length - 4) * (length - 2) * most * (1 - power) /
                               ((most - 4) * (most - 2) * length));
  }
};

// s: the means of the squares of g and of the changes.
template <>
struct UpdateFormula<UpdateOp::adadelta> {
  template <int, class T>
  GRADUS_HD static void step(T& p, T g, T* s, const UpdateCoefficients<UpdateOp::adadelta, T>& c) {
    if (c.weight_decay != 0) g += c.weight_decay * p;
    s[0] = c.rho * s[0] + c.share * g * g;
    const T change = std::sqrt(s[1] + c.eps) / std::sqrt(s[0] + c.eps) * g;
    s[1] = c.rho * s[1] + c.share * change * change;
    p -= c.lr * change;
  }
};

// The coefficients where `skipped` of the steps that they count were passed over.
template <UpdateOp op, class T>
GRADUS_HD UpdateCoefficients<op, T> recounted(UpdateCoefficients<op, double> c, double skipped) {
  if constexpr (requires { c.step; })
    if (skipped != 0) c.step -= skipped, UpdateFormula<op>::count(c);
  return coefficients_of<op, T>(reinterpret_cast<const double*>(&c));
}

}  // namespace gradus
