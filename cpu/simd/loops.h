// The innermost loops of map, map_grad, zip and zip3, over elements that lie one after the other in
// memory. loops.inc has them once; each instruction set has a file that compiles them for it.
#pragma once

#include <array>

#include "gradus/cpu/instruction_set.h"
#include "gradus/tensor/base/dtype.h"
#include "gradus/tensor/table/ops.h"

namespace gradus::cpu {

// out[i] = f(in[0][i], in[1][i], ...), for n of them. `out` may be one of the inputs. An element
// depends on its operands and on the instruction set alone, not on n or on where it stands.
using Loop = void (*)(int64_t n, void* out, const void* const* in);

// A loop, the types of its inputs and its output, and its forms of which input i is one number,
// in[i][0]; null where there is none.
struct TypedLoop {
  Loop loop;
  ScalarType reads, writes;
  Loop of_number[2] = {};
};

// The loops of an operation on a type, whose inputs are x; grad, x and y; x and y; x, y and z,
// where in[3] is the number w. They read that type, or the one it is computed in. Errors: TypeError
// where the operation is not computed in dtype, ValueError of instruction_set().
TypedLoop map_loop(UnaryOp op, ScalarType dtype);
TypedLoop map_grad_loop(UnaryOp op, ScalarType dtype);
TypedLoop zip_loop(BinaryOp op, ScalarType dtype);
TypedLoop zip3_loop(TernaryOp op, ScalarType dtype);

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

inline constexpr int kUnaryOps = 0
#define UNARY(...) +1
#define PREDICATE(...) +1
#include "gradus/tensor/table/elementwise.def"
    ;
inline constexpr int kBinaryOps = 0
#define BINARY(...) +1
#define INTEGER(...) +1
#define COMPARISON(...) +1
#include "gradus/tensor/table/elementwise.def"
    ;
inline constexpr int kTernaryOps = 0
#define TERNARY(...) +1
#include "gradus/tensor/table/ternary.def"
    ;

inline constexpr int kDtypes = 0
#define DTYPE(...) +1
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
    ;

// The loops of one type in one instruction set, by operation, those that convert it to others, and
// those that make elements; null where there is none.
struct Loops {
  Loop map[kUnaryOps], map_grad[kUnaryOps], zip[kBinaryOps], zip3[kTernaryOps], convert[kDtypes];
  Loop zip_number[2][kBinaryOps];  // by the input that is one number
  Loop repeat, arange;
};
using LoopTable = std::array<Loops, kDtypes>;  // by dtype

// The baseline is complete. The others lack what wider vectors do not speed up: functions of the C
// library, and steps.
namespace baseline {
inline constexpr bool kComplete = true;
extern const LoopTable loops;
}  // namespace baseline
namespace avx2 {
inline constexpr bool kComplete = false;
extern const LoopTable loops;
}  // namespace avx2
namespace avx512 {
inline constexpr bool kComplete = false;
extern const LoopTable loops;
}  // namespace avx512

// REQUIRES: the processor runs the set.
const Loops& loops_of(InstructionSet set, ScalarType dtype);

}  // namespace gradus::cpu
