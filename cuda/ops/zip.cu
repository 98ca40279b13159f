// Elementwise functions of two operands.
#include "gradus/cuda/kernels/zip.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {
template <BinaryOp op, class T>
void zip_operands(const Operand& x, const Operand& y, const Tensor& out) {
  using Out = std::conditional_t<scalar::Binary<op>::gives_bool, bool, T>;
  if (x.is_number())
    elementwise_of<Out, T>(ZipNumber<op, T>{x.number.cast<T>(), true}, out, *y.tensor);
  else if (y.is_number())
    elementwise_of<Out, T>(ZipNumber<op, T>{y.number.cast<T>(), false}, out, *x.tensor);
  else
    elementwise_of<Out, T>(Zip<op>{}, out, *x.tensor, *y.tensor);
}
}  // namespace

void CudaBackend::zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const ScalarType dtype = computed_type((x.is_number() ? y : x).tensor->dtype());
  visit_op(op, [&](auto row) {
    visit_computed<scalar::Binary<row.value>>(
        dtype, [&]<class T>(TypeTag<T>) { zip_operands<row.value, T>(x, y, out); });
  });
}

}  // namespace gradus::cuda
