// Prepares the operands of elementwise operations for a backend.
#pragma once

#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

// Whether a result of x and y may be written into x while both are read: y lies elsewhere, or
// element on element.
inline bool can_replace(const Tensor& x, const Tensor& y) {
  return y.impl().storage != x.impl().storage ||
         (y.dtype() == x.dtype() && y.sizes() == x.sizes() && y.strides() == x.strides() &&
          y.storage_offset() == x.storage_offset());
}

// x on the device, converted to the common dtype of the operands: rounded, or wrapped around.
// `kept` holds what has to be made for that.
inline const Tensor& as_operand(const Tensor& x, ScalarType common, Device device, Tensor& kept) {
  if (x.scalar_type() == common && x.device() == device) return x;
  kept = to(to(x, common), device);
  return kept;
}

// A number as a tensor of `sizes`, of the dtype and device of `like`, which `kept` holds.
inline const Tensor& as_tensor(const Operand& x, IntArrayRef sizes, const Tensor& like,
                               Tensor& kept) {
  if (!x.is_number()) return *x.tensor;
  const Tensor number = raw::empty({}, like.scalar_type(), like.device());
  raw::fill_(number, x.number);
  return kept = raw::expand(number, sizes);
}

// A tensor of the CPU without dimensions, beside one of another device, as its number.
inline Operand number_beside(const Tensor& x, const Tensor& other) {
  if (x.dim() == 0 && x.is_cpu() && !other.is_cpu()) return item(x);
  return x;
}

// A number as an element of dtype: rounded, or wrapped around.
inline Scalar as_element(const Scalar& x, ScalarType dtype) {
  if (dtype == computed_type(dtype)) return x;
  return visit(dtype, [&]<class T>(TypeTag<T>) -> Scalar { return x.cast<T>(); });
}

}  // namespace gradus::raw
