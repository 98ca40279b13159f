// plus, minus and times for tensors without a graph: raw::zip in fewer words.
#pragma once

#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

inline Tensor plus(const Operand& x, const Operand& y) { return raw::zip(BinaryOp::add, x, y); }
inline Tensor minus(const Operand& x, const Operand& y) { return raw::zip(BinaryOp::sub, x, y); }
inline Tensor times(const Operand& x, const Operand& y) { return raw::zip(BinaryOp::mul, x, y); }

}  // namespace gradus::raw
