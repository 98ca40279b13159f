// Rows of elementwise.def that choose, as relu() and maximum() do.
#pragma once

#include "gradus/tensor/base/host_device.h"
#include "gradus/tensor/table/ops.h"

namespace gradus {

// Whether an operand with the derivative 0 is one that is left out. No gradient reaches it then,
// not even NaN for an infinite one: sqrt(relu(x)) has the slope 0 at 0, as in PyTorch.
GRADUS_HD constexpr bool chooses(UnaryOp op) {
  return op == UnaryOp::relu || op == UnaryOp::relu6 || op == UnaryOp::hardsigmoid ||
         op == UnaryOp::hardswish;
}
GRADUS_HD constexpr bool chooses(BinaryOp op) {
  return op == BinaryOp::maximum || op == BinaryOp::minimum || op == BinaryOp::fmax ||
         op == BinaryOp::fmin;
}

// grad times the derivative of a row.
template <UnaryOp op, class T>
GRADUS_HD T times_slope(T grad, T slope) {
  if constexpr (chooses(op)) return slope == 0 ? T(0) : grad * slope;
  return grad * slope;
}

}  // namespace gradus
