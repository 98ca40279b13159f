#include "gradus/cuda/kernels/zip.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/elementwise.cuh"
#include "gradus/tensor/dispatch.h"

namespace gradus::cuda {

namespace {
template <BinaryOp op, class T>
void zip_tensors(const Operand& x, const Operand& y, const Tensor& out) {
  using Out = std::conditional_t<scalar::Binary<op>::gives_bool, bool, T>;
  if (x.is_number())
    elementwise<Out, T>(ZipNumber<op, T>{x.number.to<T>(), true}, out, *y.tensor);
  else if (y.is_number())
    elementwise<Out, T>(ZipNumber<op, T>{y.number.to<T>(), false}, out, *x.tensor);
  else
    elementwise<Out, T>(Zip<op>{}, out, *x.tensor, *y.tensor);
}

}  // namespace

void CudaBackend::zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const ScalarType dtype = (x.is_number() ? y : x).tensor->dtype();
  visit_op(op, [&](auto row) {
    visit_computed<scalar::Binary<row.value>>(
        dtype, [&]<class T>(TypeTag<T>) { zip_tensors<row.value, T>(x, y, out); });
  });
}

}  // namespace gradus::cuda
