// Finds the loop of an operation on a dtype, in the instruction set of this process.
#pragma once

#include "gradus/cpu/simd/loops.h"

namespace gradus::cpu {

// A loop with the types of its inputs and of its output. of_number[i] is its form in which input i
// is one number, in[i][0], or null.
struct TypedLoop {
  Loop loop;
  ScalarType reads, writes;
  Loop of_number[2] = {};
};

// The loop of an operation on a dtype. The loop reads that dtype, or the one that it is computed
// in. The inputs are x (map); grad, x and y (map_grad); x and y (zip); x, y, z and the number w
// (ternary).
// Errors: TypeError if the operation is not computed in dtype; ValueError of instruction_set().
TypedLoop map_loop(UnaryOp op, ScalarType dtype);
TypedLoop map_grad_loop(UnaryOp op, ScalarType dtype);
TypedLoop zip_loop(BinaryOp op, ScalarType dtype);
TypedLoop ternary_loop(TernaryOp op, ScalarType dtype);

// out[i] = in[0][i], as convert() does. REQUIRES: converts_at_once(from, to), and they differ.
Loop convert_loop(ScalarType from, ScalarType to);
// out[i] = in[0][0], for elements of so many bytes.
Loop repeat_loop(size_t element_size);
// out[i] = start + (first + i) * step, in float64 or int64: in is {&first, &start, &step}, where
// `first` is an int64. REQUIRES: dtype is Float, Double or Long.
Loop arange_loop(ScalarType dtype);

// How many elements of an operation outweigh the waking of threads.
int64_t grain_of(UnaryOp op);
int64_t grain_of(BinaryOp op);
int64_t grain_of(TernaryOp op);

}  // namespace gradus::cpu
