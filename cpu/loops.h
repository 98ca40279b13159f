// The innermost loops of map, map_grad, zip and zip3, over elements that lie one after the other in
// memory. loops.inc has them once; each instruction set has a file that compiles them for it.
#pragma once

#include "gradus/cpu/instruction_set.h"
#include "gradus/tensor/dtype.h"
#include "gradus/tensor/ops.h"

namespace gradus::cpu {

// out[i] = f(in[0][i], in[1][i], ...), for n of them. `out` may be one of the inputs. An element
// depends on its operands and on the instruction set alone, not on n or on where it stands.
using Loop = void (*)(int64_t n, void* out, const void* const* in);

// The loops of an operation on a type, whose inputs are x; grad, x and y; x and y; x, y and z.
// Errors: TypeError where the operation is not computed in dtype, ValueError of instruction_set().
Loop map_loop(UnaryOp op, ScalarType dtype);
Loop map_grad_loop(UnaryOp op, ScalarType dtype);
Loop zip_loop(BinaryOp op, ScalarType dtype);
Loop zip3_loop(TernaryOp op, ScalarType dtype);

// How many elements of an operation outweigh the waking of threads.
int64_t grain_of(UnaryOp op);
int64_t grain_of(BinaryOp op);
int64_t grain_of(TernaryOp op);

inline constexpr int kUnaryOps = 0
#define UNARY(...) +1
#define PREDICATE(...) +1
#include "gradus/tensor/elementwise.def"
    ;
inline constexpr int kBinaryOps = 0
#define BINARY(...) +1
#define INTEGER(...) +1
#define COMPARISON(...) +1
#include "gradus/tensor/elementwise.def"
    ;
inline constexpr int kTernaryOps = 0
#define TERNARY(...) +1
#include "gradus/tensor/ternary.def"
    ;

// The loops of one type in one instruction set, by operation; null where there is none.
struct Loops {
  Loop map[kUnaryOps], map_grad[kUnaryOps], zip[kBinaryOps], zip3[kTernaryOps];
};
// The baseline is complete. The others lack what wider vectors do not speed up: integers, and the
// functions of the C library.
namespace baseline {
inline constexpr bool kComplete = true;
extern const Loops float_loops, double_loops, long_loops;
}  // namespace baseline
namespace avx2 {
inline constexpr bool kComplete = false;
extern const Loops float_loops, double_loops;
}  // namespace avx2
namespace avx512 {
inline constexpr bool kComplete = false;
extern const Loops float_loops, double_loops;
}  // namespace avx512

// REQUIRES: the processor runs the set; dtype is Long, Float or Double.
const Loops& loops_of(InstructionSet set, ScalarType dtype);

}  // namespace gradus::cpu
