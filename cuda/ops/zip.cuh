// The definition of zip_of.
#pragma once

#include "gradus/cuda/kernels/zip.cuh"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/cuda/ops/zip.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

template <BinaryOp op, class T>
void zip_tensors(const Operand& x, const Operand& y, const Tensor& out) {
  using Out = std::conditional_t<scalar::Binary<op>::gives_bool, bool, T>;
  if (x.is_number())
    elementwise_of<Out, T>(ZipNumber<op, T>{x.number.cast<T>(), true}, out, *y.tensor);
  else if (y.is_number())
    elementwise_of<Out, T>(ZipNumber<op, T>{y.number.cast<T>(), false}, out, *x.tensor);
  else
    elementwise_of<Out, T>(Zip<op>{}, out, *x.tensor, *y.tensor);
}

template <class T>
void zip_of(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  visit_op(op, [&](auto row) {
    visit_computed<scalar::Binary<row.value>>(dtype_of<T>, [&]<class U>(TypeTag<U>) {
      if constexpr (std::is_same_v<U, T>) zip_tensors<row.value, T>(x, y, out);
    });
  });
}

}  // namespace gradus::cuda
