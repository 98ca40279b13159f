// Elementwise functions of three operands.
#include "gradus/cuda/kernels/ternary.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

void CudaBackend::ternary(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z,
                          const Scalar& w, const Tensor& out) {
  visit_op(op, [&](auto row) {
    visit_computed<scalar::Ternary<row.value>>(computed_type(out.dtype()), [&]<class T>(
                                                                               TypeTag<T>) {
      const auto number = [](const Operand& o) { return o.is_number() ? o.number.cast<T>() : T{}; };
      const Ternary<row.value, T> f{number(y), number(z), w.cast<T>()};
      if (y.is_number())
        elementwise_of<T, T>(f, out, x);
      else if (z.is_number())
        elementwise_of<T, T>(f, out, x, *y.tensor);
      else
        elementwise_of<T, T>(f, out, x, *y.tensor, *z.tensor);
    });
  });
}

}  // namespace gradus::cuda
