// Tensors as rows along one of their dimensions, for kernels that put rows in order.
#pragma once

#include "gradus/cuda/kernels/order/sort.cuh"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

// REQUIRES: the tensors are contiguous, and the last dimension is that of the rows.
template <class T>
Rows<T> rows_of(const Tensor& x, bool descending, const Tensor& values, const Tensor& indices) {
  const int64_t n = x.sizes().back();
  return {x.numel() / n,        n,
          descending,           static_cast<const T*>(x.data_ptr()),
          values.data_ptr<T>(), indices.data_ptr<int64_t>()};
}

// Calls f(x, values, indices), where rows along dim lie one after the other: in the tensors
// themselves, or in copies.
template <class F>
void with_rows(const Tensor& x, int64_t dim, const Tensor& values, const Tensor& indices,
               const F& f) {
  const auto along = [&](const Tensor& t) { return raw::transpose(t, dim, t.dim() - 1); };
  const auto space_for = [&](const Tensor& rows) {
    return rows.is_contiguous() ? rows : raw::empty_like(rows);
  };
  const Tensor value_rows = along(values), index_rows = along(indices);
  const Tensor to = space_for(value_rows), places = space_for(index_rows);
  f(raw::contiguous(along(x)), to, places);
  if (!value_rows.is_contiguous()) raw::copy_(value_rows, to);
  if (!index_rows.is_contiguous()) raw::copy_(index_rows, places);
}

}  // namespace gradus::cuda
