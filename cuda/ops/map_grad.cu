// The derivatives of elementwise functions of one operand.
#include "gradus/cuda/kernels/formulas/half_gelu.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/cuda/ops/pointwise/parts.h"

namespace gradus::cuda {

void CudaBackend::map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                           const Tensor& out) {
  if (op == UnaryOp::gelu &&
      launch_halves(row_function<float, float, float>(GeluGradOfHalf{}), out, grad, x))
    return;
  if (are_halves(out)) return map_grad_in<Half>(op, grad, x, y, out);
  visit_floating(name_of(op), out.scalar_type(),
                 [&]<class T>(TypeTag<T>) { map_grad_in<T>(op, grad, x, y, out); });
}

}  // namespace gradus::cuda
