// What elementwise operations make of an operand before a backend computes with it.
#pragma once

#include "gradus/tensor/raw.h"

namespace gradus::raw {

// x rounded, or wrapped around, to the common dtype of the operands; then in the dtype that is
// computed in, and on the device. `kept` holds what has to be made for that.
inline const Tensor& as_operand(const Tensor& x, ScalarType common, ScalarType compute,
                                Device device, Tensor& kept) {
  if (x.scalar_type() == compute && common == compute && x.device() == device) return x;
  kept = to(to(to(x, common), compute), device);
  return kept;
}

}  // namespace gradus::raw
