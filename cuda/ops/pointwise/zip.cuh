// Elementwise functions of two operands in one type (parts.h).
#pragma once

#include "gradus/cuda/kernels/zip.cuh"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/cuda/ops/pointwise/parts.h"
#include "gradus/cuda/ops/squares.cuh"

namespace gradus::cuda {

// Returns false, and launches nothing, unless the tensors are of the types that f takes and gives.
template <class T, class Out, class F>
bool zip_tensors(const F& f, const Tensor& x, const Tensor& y, const Tensor& out) {
  if (x.scalar_type() != dtype_of<T> || y.scalar_type() != dtype_of<T> ||
      out.scalar_type() != dtype_of<Out>)
    return false;
  if (out.numel() == 0) return true;
  const Context context(out);
  const auto walk = walk_over(out, x, y);
  Out* const to = static_cast<Out*>(out.data_ptr());
  const T *const a = static_cast<const T*>(x.data_ptr()), *const b =
                                                              static_cast<const T*>(y.data_ptr());
  if (!launch_squares<SomeTurned<2>>(context, f, walk, to, a, b))
    launch_elementwise(context, f, walk, to, a, b);
  return true;
}

template <class T, BinaryOp op>
void zip_converted(const Operand& x, const Operand& y, const Tensor& out) {
  if (out.numel() == 0) return;
  using Out = std::conditional_t<scalar::Binary<op>::gives_bool, bool, T>;
  const Tensor &a = *(x.is_number() ? y : x).tensor, &b = *(y.is_number() ? x : y).tensor;
  ZipConverted<op, T> f{};
  if (x.is_number()) f = {x.number.cast<T>(), NumberAt::first};
  if (y.is_number()) f = {y.number.cast<T>(), NumberAt::second};
  const auto read = [](const Operand& o) {
    return o.is_number() ? Elements{nullptr, dtype_of<T>, 0} : elements_of(*o.tensor);
  };
  launch_converting<T, Out>(Context(out), row_function<Out, T, T>(f), walk_over(out, a, b),
                            elements_of(out), read(x), read(y));
}

template <class T, BinaryOp op>
void zip_operands(const Operand& x, const Operand& y, const Tensor& out) {
  using Row = scalar::Binary<op>;
  using Number = Computed<T>;
  using Out = std::conditional_t<Row::gives_bool, bool, Number>;
  if (x.is_number() || y.is_number()) {
    const Tensor& a = *(x.is_number() ? y : x).tensor;
    const Scalar& number = (x.is_number() ? x : y).number;
    const auto f =
        row_function<Out, Number>(ZipNumber<op, Number>{number.cast<Number>(), x.is_number()});
    if (elementwise_alike<T, Out>(f, out, a)) return;
  } else {
    const auto f = row_function<Out, Number, Number>(Zip<op>{});
    if constexpr (is_half<T>) {
      if (elementwise_alike<T, Out>(f, out, *x.tensor, *y.tensor)) return;
    } else if (zip_tensors<T, Out>(f, *x.tensor, *y.tensor, out)) {
      return;
    }
  }
  // Operands of a comparison have one dtype.
  if constexpr (std::is_same_v<T, int64_t> || (!is_half<T> && !Row::gives_bool))
    zip_converted<T, op>(x, y, out);
  else
    fail_of_several_types(out, *(x.is_number() ? y : x).tensor, *(y.is_number() ? x : y).tensor);
}

template <class T>
void zip_in(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  visit_op(op, [&](auto row) {
    visit_computed<scalar::Binary<row.value>>(dtype_of<Computed<T>>, [&]<class N>(TypeTag<N>) {
      if constexpr (std::is_same_v<N, Computed<T>>) zip_operands<T, row.value>(x, y, out);
    });
  });
}

}  // namespace gradus::cuda
