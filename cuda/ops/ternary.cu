// Elementwise functions of three operands.
#include "gradus/cuda/kernels/ternary.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/cuda/ops/pointwise/parts.h"

namespace gradus::cuda {

namespace {
template <class T, TernaryOp op>
void ternary_row(const Tensor& x, const Operand& y, const Operand& z, const Scalar& w,
                 const Tensor& out) {
  using Number = Computed<T>;
  const auto number = [](const Operand& o) {
    return o.is_number() ? o.number.cast<Number>() : Number{};
  };
  const Ternary<op, Number> f{number(y), number(z), w.cast<Number>()};
  if (y.is_number())
    elementwise_of<T, Number>(f, out, x);
  else if (z.is_number())
    elementwise_of<T, Number>(f, out, x, *y.tensor);
  else
    elementwise_of<T, Number>(f, out, x, *y.tensor, *z.tensor);
}

template <class T>
void ternary_in(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z, const Scalar& w,
                const Tensor& out) {
  visit_op(op, [&](auto row) {
    visit_computed<scalar::Ternary<row.value>>(dtype_of<Computed<T>>, [&]<class N>(TypeTag<N>) {
      if constexpr (std::is_same_v<N, Computed<T>>) ternary_row<T, row.value>(x, y, z, w, out);
    });
  });
}
}  // namespace

void CudaBackend::ternary(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z,
                          const Scalar& w, const Tensor& out) {
  visit_part(name_of(op), out.scalar_type(),
             [&]<class T>(TypeTag<T>) { ternary_in<T>(op, x, y, z, w, out); });
}

}  // namespace gradus::cuda
