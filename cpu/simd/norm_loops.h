// The loops of normalisations along neighbours for each instruction set.
#pragma once

#include <cstdint>

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// T is float or double. weight and bias, of n elements, may be null. The sums are made of lanes,
// which are added in double every few hundred elements.
template <class T>
struct NormLoops {
  // The sum of x - about and, in `squares`, of its square.
  double (*moments)(int64_t n, const T* x, T about, double& squares);
  // out = (x - mean) * scale * weight + shift + bias
  void (*apply)(int64_t n, const T* x, T mean, T scale, T shift, const T* weight, const T* bias,
                T* out);
  // The sum of grad * weight and, in `products`, of grad * weight * (x - mean).
  double (*grad_sums)(int64_t n, const T* grad, const T* x, T mean, const T* weight,
                      double& products);
  // out = grad * scale * weight - shift - (x - mean) * slope
  void (*apply_grad)(int64_t n, const T* grad, const T* x, T mean, T scale, T shift, T slope,
                     const T* weight, T* out);
  // weight_grad += grad * (x - mean) * rstd, and bias_grad += grad. Rows of n elements follow each
  // other. Each has its mean and rstd.
  void (*add_products)(int64_t rows, int64_t n, const T* grad, const T* x, const T* mean,
                       const T* rstd, T* weight_grad, T* bias_grad);

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const NormLoops& name();
#include <gradus_sets.def>
};

}  // namespace gradus::cpu
