// Elementwise functions of one operand.
#include "gradus/cuda/kernels/formulas/half_gelu.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/complex/elementwise.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/cuda/ops/pointwise/parts.h"

namespace gradus::cuda {

void CudaBackend::map(UnaryOp op, const Tensor& x, const Tensor& out) {
  if (isComplexType(x.scalar_type())) return map_complex(op, x, out);
  if (op == UnaryOp::gelu && launch_halves(row_function<float, float>(GeluOfHalf{}), out, x))
    return;
  visit_part(name_of(op), x.scalar_type(), [&]<class T>(TypeTag<T>) { map_in<T>(op, x, out); });
}

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
