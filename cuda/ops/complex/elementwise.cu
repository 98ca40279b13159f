// Elementwise functions of complex numbers, by the kernel for any strides alone.
#include "gradus/cuda/ops/complex/elementwise.h"

#include "gradus/cuda/kernels/map.cuh"
#include "gradus/cuda/kernels/zip.cuh"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/tensor/math/complex.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

template <class Out, class In, class F, class... Tensors>
void launch_complex(const F& row, const Tensor& out, const Tensors&... in) {
  if (out.numel() == 0) return;
  const Context context(out);
  const auto f = row_function<Out, std::conditional_t<true, In, Tensors>...>(row);
  for_each_piece(walk_over(out, in...), {}, [&](const auto& piece, const auto& start) {
    launch_strided(context, f, piece, start, std::index_sequence_for<Tensors...>{},
                   static_cast<Out*>(out.data_ptr()), static_cast<const In*>(in.data_ptr())...);
  });
}

template <class Row>
[[noreturn]] void refuse_complex(ScalarType dtype) {
  fail<TypeError>(Row::name, ": not implemented for '", TypeName{dtype},
                  "'; compute with real() and imag()");
}

}  // namespace

void map_complex(UnaryOp op, const Tensor& x, const Tensor& out) {
  visit_op(op, [&](auto row) {
    using Row = scalar::Unary<row.value>;
    if constexpr (!Row::complex_numbers || Row::gives_bool)
      refuse_complex<Row>(x.scalar_type());
    else
      visit_complex(Row::name, x.scalar_type(), [&]<class T>(TypeTag<T>) {
        using Number = scalar::ComplexNumber<T>;
        launch_complex<Number, Number>(Map<row.value>{}, out, x);
      });
  });
}

void zip_complex(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const Tensor &a = *x.tensor, &b = *y.tensor;
  visit_op(op, [&](auto row) {
    using Row = scalar::Binary<row.value>;
    if constexpr (!Row::complex_numbers)
      refuse_complex<Row>(a.scalar_type());
    else
      visit_complex(Row::name, a.scalar_type(), [&]<class T>(TypeTag<T>) {
        using Number = scalar::ComplexNumber<T>;
        using Out = std::conditional_t<Row::gives_bool, bool, Number>;
        launch_complex<Out, Number>(Zip<row.value>{}, out, a, b);
      });
  });
}

}  // namespace gradus::cuda
