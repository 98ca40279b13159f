// The innermost loops of map, map_grad, zip and ternary, over elements that lie one after the other
// in memory.
#pragma once

#include "gradus/cpu/instruction_set.h"
#include "gradus/tensor/base/dtype.h"
#include "gradus/tensor/table/ops.h"

namespace gradus::cpu {

// out[i] = f(in[0][i], in[1][i], ...), for n of them. `out` may be one of the inputs. An element
// depends on its operands and on the instruction set alone, not on n or on where it stands.
using Loop = void (*)(int64_t n, void* out, const void* const* in);

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

// The loops of one type in one instruction set, by operation. Further loops convert the type to
// others and make elements. Null where there is none.
struct Loops {
  Loop map[kUnaryOps], map_grad[kUnaryOps], zip[kBinaryOps], ternary[kTernaryOps], convert[kDtypes];
  Loop zip_number[2][kBinaryOps];  // by the input that is one number
  Loop repeat, arange;
};
// The loops of all dtypes. The table of the first of instruction_sets() is complete; the others
// lack what wider vectors do not speed up: functions of the C library, and steps.
struct LoopTable {
  Loops of[kDtypes];

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const LoopTable& name();
#include <gradus_sets.def>
};

// REQUIRES: instruction_sets() has the set.
inline const Loops& loops_of(InstructionSet set, ScalarType dtype) {
  return table_of<LoopTable>(set).of[static_cast<int>(dtype)];
}

}  // namespace gradus::cpu
