// Elementwise functions of one operand in one type, and their derivatives (parts.h).
#pragma once

#include "gradus/cuda/kernels/map.cuh"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/cuda/ops/pointwise/parts.h"

namespace gradus::cuda {

template <class T>
void map_in(UnaryOp op, const Tensor& x, const Tensor& out) {
  visit_op(op, [&](auto row) {
    using Row = scalar::Unary<row.value>;
    visit_computed<Row>(dtype_of<Computed<T>>, [&]<class N>(TypeTag<N>) {
      if constexpr (std::is_same_v<N, Computed<T>>)
        elementwise_of<T, std::conditional_t<Row::gives_bool, bool, N>>(Map<row.value>{}, out, x);
    });
  });
}

template <class T>
void map_grad_in(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                 const Tensor& out) {
  visit_op(op, [&](auto row) {
    if constexpr (!scalar::Unary<row.value>::gives_bool) {
      constexpr MapGrad<row.value> f;
      constexpr unsigned uses = scalar::derivative_uses<row.value>;
      if constexpr (uses == 0)
        elementwise_of<T, Computed<T>>(f, out, grad);
      else if constexpr (uses == scalar::kUsesX)
        elementwise_of<T, Computed<T>>(f, out, grad, x);
      else if constexpr (uses == scalar::kUsesY)
        elementwise_of<T, Computed<T>>(f, out, grad, y);
      else
        elementwise_of<T, Computed<T>>(f, out, grad, x, y);
    }
  });
}

}  // namespace gradus::cuda
