// Which of a processor's vector instructions the loops of cpu/*.inc are compiled for.
#pragma once

#include <cstdint>

#include "gradus/tensor/shape.h"

namespace gradus::cpu {

enum class InstructionSet : uint8_t { baseline, avx2, avx512 };

// Those that this processor runs, the fastest last.
ArrayRef<InstructionSet> instruction_sets();

// The one that a word of GRADUS_CPU names; the fastest without a word. Errors: ValueError where
// this processor does not run it.
InstructionSet choose_instruction_set(const char* word);

// The choice of this process. Errors: as above.
InstructionSet instruction_set();

}  // namespace gradus::cpu
