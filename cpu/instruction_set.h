// The instruction sets that the loops of cpu/simd are compiled for, and the choice of one.
#pragma once

#include <cstdint>

#include "gradus/tensor/shape.h"

namespace gradus::cpu {

enum class InstructionSet : uint8_t { baseline, avx2, avx512 };

// The instruction sets that this build has and this processor runs, the fastest last. Errors:
// ValueError if there are none.
ArrayRef<InstructionSet> instruction_sets();

// The one that a word of GRADUS_CPU names; the fastest without a word. Errors: ValueError if it is
// none of instruction_sets().
InstructionSet choose_instruction_set(const char* word);

// The choice of this process. Errors: as above.
InstructionSet instruction_set();

// The functions of a table for a set. A table is a struct of cpu/simd with pointers to functions
// and, for each set, a static member function of the set's name that returns them.
// REQUIRES: instruction_sets() has the set.
template <class Table>
const Table& table_of(InstructionSet set = instruction_set()) {
#define SET(name) \
  if (set == InstructionSet::name) return Table::name();
#include <gradus_sets.def>
  __builtin_unreachable();
}

}  // namespace gradus::cpu
