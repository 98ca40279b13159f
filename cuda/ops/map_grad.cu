// The derivatives of elementwise functions of one operand.
#include "gradus/cuda/kernels/formulas/half_gelu.cuh"
#include "gradus/cuda/kernels/map.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {
template <UnaryOp op, class T>
void map_grad_tensor(const Tensor& grad, const Tensor& x, const Tensor& y, const Tensor& out) {
  constexpr unsigned uses = scalar::derivative_uses<op>;
  if constexpr (uses == 0)
    elementwise_of<T, T>(MapGrad<op>{}, out, grad);
  else if constexpr (uses == scalar::kUsesX)
    elementwise_of<T, T>(MapGrad<op>{}, out, grad, x);
  else if constexpr (uses == scalar::kUsesY)
    elementwise_of<T, T>(MapGrad<op>{}, out, grad, y);
  else
    elementwise_of<T, T>(MapGrad<op>{}, out, grad, x, y);
}
}  // namespace

void CudaBackend::map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                           const Tensor& out) {
  if (op == UnaryOp::gelu &&
      launch_halves(row_function<float, float, float>(GeluGradOfHalf{}), out, grad, x))
    return;
  visit_op(op, [&](auto row) {
    if constexpr (!scalar::Unary<row.value>::gives_bool)
      visit_floating(name_of(op), computed_type(out.dtype()),
                     [&]<class T>(TypeTag<T>) { map_grad_tensor<row.value, T>(grad, x, y, out); });
  });
}

}  // namespace gradus::cuda
