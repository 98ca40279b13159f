// What elementwise operations make of an operand before a backend computes with it.
#pragma once

#include "gradus/tensor/raw.h"

namespace gradus::raw {

// x rounded, or wrapped around, to the common dtype of the operands; then in the dtype that is
// computed in, on the device and of the shape of out. `kept` holds what has to be made for that.
// REQUIRES: x broadcasts to out's shape.
inline const Tensor& as_operand(const Tensor& x, ScalarType common, ScalarType compute,
                                const Tensor& out, Tensor& kept) {
  const bool converts =
      x.scalar_type() != compute || common != compute || x.device() != out.device();
  if (converts) kept = to(to(to(x, common), compute), out.device());
  const Tensor& ready = converts ? kept : x;
  if (ready.sizes() == out.sizes()) return ready;
  kept = alias(ready, out.impl().sizes,
               broadcast_strides("expand", ready.sizes(), ready.strides(), out.sizes()));
  return kept;
}

}  // namespace gradus::raw
