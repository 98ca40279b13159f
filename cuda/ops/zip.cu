// Elementwise functions of two operands.
#include "gradus/cuda/kernels/zip.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/cuda/ops/squares.cuh"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {
template <class Out, class T, class F>
void zip_tensors(const F& f, const Tensor& x, const Tensor& y, const Tensor& out) {
  if (x.scalar_type() != dtype_of<T> || y.scalar_type() != dtype_of<T> ||
      out.scalar_type() != dtype_of<Out>)
    return elementwise_of<Out, T>(f, out, x, y);
  if (out.numel() == 0) return;
  const Context context(out);
  const auto walk = walk_over(out, x, y);
  Out* const to = static_cast<Out*>(out.data_ptr());
  const T *const a = static_cast<const T*>(x.data_ptr()), *const b =
                                                              static_cast<const T*>(y.data_ptr());
  if (!launch_squares<SomeTurned<2>>(context, f, walk, to, a, b))
    launch_elementwise(context, f, walk, to, a, b);
}

template <BinaryOp op, class T>
void zip_operands(const Operand& x, const Operand& y, const Tensor& out) {
  using Out = std::conditional_t<scalar::Binary<op>::gives_bool, bool, T>;
  if (x.is_number())
    elementwise_of<Out, T>(ZipNumber<op, T>{x.number.cast<T>(), true}, out, *y.tensor);
  else if (y.is_number())
    elementwise_of<Out, T>(ZipNumber<op, T>{y.number.cast<T>(), false}, out, *x.tensor);
  else
    zip_tensors<Out, T>(Zip<op>{}, *x.tensor, *y.tensor, out);
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
