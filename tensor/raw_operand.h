// What elementwise operations make of an operand before a backend computes with it.
#pragma once

#include "gradus/tensor/raw.h"

namespace gradus::raw {

// What a backend takes operands of a dtype as: as they are, or as what they are computed in.
inline ScalarType operand_type(Device device, ScalarType dtype) {
  return backend(device.type()).converts_on_the_way() ? dtype : computed_type(dtype);
}

// Whether a result of x and y may be written into x while both are read: y lies elsewhere, or
// element on element.
inline bool can_replace(const Tensor& x, const Tensor& y) {
  return y.impl().storage != x.impl().storage ||
         (y.dtype() == x.dtype() && y.sizes() == x.sizes() && y.strides() == x.strides() &&
          y.storage_offset() == x.storage_offset());
}

// x rounded, or wrapped around, to the common dtype of the operands; then in the dtype that is
// given to the backend, and on the device. `kept` holds what has to be made for that.
inline const Tensor& as_operand(const Tensor& x, ScalarType common, ScalarType taken, Device device,
                                Tensor& kept) {
  if (x.scalar_type() == taken && common == taken && x.device() == device) return x;
  kept = to(to(to(x, common), taken), device);
  return kept;
}

}  // namespace gradus::raw
