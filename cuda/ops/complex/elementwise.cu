// Elementwise functions of complex numbers, by the kernel for any strides alone.
#include "gradus/cuda/ops/complex/elementwise.h"

#include "gradus/cuda/kernels/map.cuh"
#include "gradus/cuda/kernels/zip.cuh"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/tensor/math/complex_rows.h"

namespace gradus::cuda {

namespace {

template <class Out, class In, class F, class... Tensors>
void launch_complex(const F& row, const Tensor& out, const Tensors&... in) {
  if (out.numel() == 0) return;
  const Context context(out);
  const auto f = row_function<Out, std::conditional_t<true, In, Tensors>...>(row);
  launch_pieces(context, f, walk_over(out, in...), static_cast<Out*>(out.data_ptr()),
                static_cast<const In*>(in.data_ptr())...);
}

}  // namespace

void map_complex(UnaryOp op, const Tensor& x, const Tensor& out) {
  visit_complex_row(op, x.scalar_type(),
                    [&]<class Out, class T>(auto row, TypeTag<Out>, TypeTag<T>) {
                      launch_complex<Out, T>(Map<row.value>{}, out, x);
                    });
}

void zip_complex(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const Tensor &a = *x.tensor, &b = *y.tensor;
  visit_complex_row(op, a.scalar_type(),
                    [&]<class Out, class T>(auto row, TypeTag<Out>, TypeTag<T>) {
                      launch_complex<Out, T>(Zip<row.value>{}, out, a, b);
                    });
}

}  // namespace gradus::cuda
