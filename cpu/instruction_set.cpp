// Asks the processor which instruction sets it runs, and GRADUS_CPU which one to use.
#include "gradus/cpu/instruction_set.h"

#include <cstdlib>
#include <string_view>
#include <vector>

#include "gradus/tensor/base/error.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace gradus::cpu {

namespace {

constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};
constexpr std::string_view name_of(InstructionSet set) { return kNames[static_cast<int>(set)]; }

std::string joined(ArrayRef<InstructionSet> sets) {
  std::string out;
  for (const InstructionSet set : sets)
    out += (out.empty() ? "" : ", ") + std::string(name_of(set));
  return out;
}

// Whether the processor has what cmake/instruction_sets.cmake lets the compiler use.
bool runs(InstructionSet set) {
  if (set == InstructionSet::baseline) return true;
#ifdef __x86_64__
  unsigned a = 0, b = 0, c = 0, d = 0;  // Clang 14 knows no __builtin_cpu_supports("f16c")
  const bool f16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
  const bool avx2 = f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (set == InstructionSet::avx2) return avx2;
  return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

std::vector<InstructionSet> find_sets() {
  constexpr InstructionSet built[] = {
#define SET(name) InstructionSet::name,
#include <gradus_sets.def>
  };
  std::vector<InstructionSet> out;
  for (const InstructionSet set : built)
    if (runs(set)) out.push_back(set);
  check<ValueError>(!out.empty(),
                    "this processor runs none of the instruction sets that gradus was built for, ",
                    joined(built), "; build it without GRADUS_CPU_SETS");
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
  for (const InstructionSet set : sets)
    if (name_of(set) == word) return set;
  fail<ValueError>("the environment variable GRADUS_CPU is '", word,
                   "'; for this build and processor it may be: ", joined(sets),
                   "; set it to one of them, or not at all for the fastest");
}

InstructionSet instruction_set() {
  static const InstructionSet chosen = choose_instruction_set(std::getenv("GRADUS_CPU"));
  return chosen;
}

}  // namespace gradus::cpu
