// The rows of elementwise.def with one operand, as functors of the elementwise kernels.
#pragma once

#include "gradus/tensor/math/elementwise.h"
#include "gradus/tensor/table/choices.h"

namespace gradus::cuda {

template <UnaryOp op>
struct Map {
  template <class T>
  __device__ auto operator()(T x) const {
    return scalar::Unary<op>::f(x);
  }
};

// grad * derivative. The operands after grad are those of x and y that the derivative reads.
template <UnaryOp op>
struct MapGrad {
  template <class T>
  __device__ T operator()(T grad) const {
    return product(grad, T{}, T{});
  }
  template <class T>
  __device__ T operator()(T grad, T read) const {
    return product(grad, read, read);
  }
  template <class T>
  __device__ T operator()(T grad, T x, T y) const {
    return product(grad, x, y);
  }

 private:
  template <class T>
  __device__ static T product(T grad, T x, T y) {
    return times_slope<op>(grad, static_cast<T>(scalar::Unary<op>::derivative(x, y)));
  }
};

}  // namespace gradus::cuda
