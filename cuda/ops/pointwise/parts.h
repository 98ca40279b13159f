// The elementwise functions in one type of numbers. Each table and type has a source of its own:
// nvcc would take minutes for the source of a table.
#pragma once

#include "gradus/cuda/ops/matmul/merge.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

// Numbers are computed in T. Half stands for both half types, in which tensors lie; their numbers
// are computed in float. Dtypes are as backend.def says; operands of zip_in and their result may
// be of several types, except for Half. Errors: TypeError, where the row is not computed in T.
template <class T>
void map_in(UnaryOp op, const Tensor& x, const Tensor& out);
template <class T>
void map_grad_in(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                 const Tensor& out);
template <class T>
void zip_in(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out);

// Calls f(TypeTag<T>{}) for the T of tensors of a dtype.
template <class F>
void visit_part(std::string_view op, ScalarType dtype, const F& f) {
  if (dtype == kHalf || dtype == kBFloat16) return f(TypeTag<Half>{});
  visit_numbers(op, computed_type(dtype), f);
}

}  // namespace gradus::cuda
