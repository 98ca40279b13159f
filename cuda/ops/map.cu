// Elementwise functions of one operand.
#include "gradus/cuda/kernels/formulas/half_gelu.cuh"
#include "gradus/cuda/kernels/map.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/complex/elementwise.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

void CudaBackend::map(UnaryOp op, const Tensor& x, const Tensor& out) {
  if (isComplexType(x.scalar_type())) return map_complex(op, x, out);
  if (op == UnaryOp::gelu && launch_halves(row_function<float, float>(GeluOfHalf{}), out, x))
    return;
  visit_op(op, [&](auto row) {
    using Row = scalar::Unary<row.value>;
    visit_computed<Row>(computed_type(x.dtype()), [&]<class T>(TypeTag<T>) {
      elementwise_of<std::conditional_t<Row::gives_bool, bool, T>, T>(Map<row.value>{}, out, x);
    });
  });
}

}  // namespace gradus::cuda
