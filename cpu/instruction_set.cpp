#include "gradus/cpu/instruction_set.h"

#include <cstdlib>
#include <string_view>
#include <vector>

#include "gradus/tensor/base/error.h"

namespace gradus::cpu {

namespace {

constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};
constexpr std::string_view name_of(InstructionSet set) { return kNames[static_cast<int>(set)]; }

std::vector<InstructionSet> find_sets() {
  std::vector<InstructionSet> out = {InstructionSet::baseline};
#ifdef __x86_64__
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) out.push_back(InstructionSet::avx2);
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    out.push_back(InstructionSet::avx512);
#endif
  return out;
}

}  // namespace

ArrayRef<InstructionSet> instruction_sets() {
  static const std::vector<InstructionSet> sets = find_sets();
  return sets;
}

InstructionSet choose_instruction_set(const char* word) {
  const ArrayRef<InstructionSet> sets = instruction_sets();
  if (!word) return sets[sets.size() - 1];
  std::string known;
  for (const InstructionSet set : sets) {
    if (name_of(set) == word) return set;
    known += (known.empty() ? "" : ", ") + std::string(name_of(set));
  }
  fail<ValueError>("the environment variable GRADUS_CPU is '", word,
                   "'; this processor runs: ", known,
                   "; set it to one of them, or not at all for the fastest");
}

InstructionSet instruction_set() {
  static const InstructionSet chosen = choose_instruction_set(std::getenv("GRADUS_CPU"));
  return chosen;
}

}  // namespace gradus::cpu
