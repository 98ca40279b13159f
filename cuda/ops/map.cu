// Elementwise functions of one operand.
#include "gradus/cuda/kernels/formulas/half_gelu.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/complex/elementwise.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/cuda/ops/pointwise/parts.h"

namespace gradus::cuda {

void CudaBackend::map(UnaryOp op, const Tensor& x, const Tensor& out) {
  if (isComplexType(x.scalar_type())) return map_complex(op, x, out);
  if (merge_map(op, x, out)) return;
  if (op == UnaryOp::gelu && launch_halves(row_function<float, float>(GeluOfHalf{}), out, x))
    return;
  visit_part(name_of(op), x.scalar_type(), [&]<class T>(TypeTag<T>) { map_in<T>(op, x, out); });
}

}  // namespace gradus::cuda
