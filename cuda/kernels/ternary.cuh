// The rows of ternary.def as functors of the elementwise kernels.
#pragma once

#include "gradus/tensor/math/elementwise.h"

namespace gradus::cuda {

// y and z are those operands where they are numbers; w is one.
template <TernaryOp op, class T>
struct Ternary {
  T y, z, w;

  __device__ T operator()(T x) const { return scalar::Ternary<op>::f(x, y, z, w); }
  __device__ T operator()(T x, T other) const { return scalar::Ternary<op>::f(x, other, z, w); }
  __device__ T operator()(T x, T other, T third) const {
    return scalar::Ternary<op>::f(x, other, third, w);
  }
};

}  // namespace gradus::cuda
