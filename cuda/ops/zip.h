// zip on one type of number. Each type has a file of its own (zip_float.cu and its like), so that
// several compilers share the rows of elementwise.def.
#pragma once

#include "gradus/tensor/backend.h"

namespace gradus::cuda {

// Errors: TypeError where the row is not computed in T.
template <class T>
void zip_of(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out);

}  // namespace gradus::cuda
