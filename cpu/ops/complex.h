// Elementwise functions of complex numbers: plain loops.
#pragma once

#include "gradus/tensor/raw/raw.h"

namespace gradus::cpu {

// As Backend::map and Backend::zip, of one complex dtype. Errors: TypeError for a row that is not
// computed in complex numbers.
void map_complex(UnaryOp op, const Tensor& x, const Tensor& out);
void zip_complex(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out);

}  // namespace gradus::cpu
