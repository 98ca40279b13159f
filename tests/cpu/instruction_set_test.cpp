// The instruction set that the loops use.
#include "gradus/cpu/instruction_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "gradus/tensor/base/error.h"

namespace gradus::cpu {
namespace {

TEST(InstructionSet, TheFastestWithoutAWord) {
  const ArrayRef<InstructionSet> sets = instruction_sets();
  EXPECT_EQ(choose_instruction_set(nullptr), sets[sets.size() - 1]);
}

TEST(InstructionSet, AWordChooses) {
  const std::vector<std::pair<const char*, InstructionSet>> words = {
      {"baseline", InstructionSet::baseline},
      {"avx2", InstructionSet::avx2},
      {"avx512", InstructionSet::avx512}};
  for (const auto& [word, set] : words) {
    const ArrayRef<InstructionSet> sets = instruction_sets();
    if (std::find(sets.begin(), sets.end(), set) != sets.end())
      EXPECT_EQ(choose_instruction_set(word), set);
    else
      EXPECT_THROW(choose_instruction_set(word), ValueError);
  }
}

TEST(InstructionSet, AnUnknownWordIsRefused) {
  for (const char* word : {"", "AVX2", "avx", "neon"}) {
    try {
      choose_instruction_set(word);
      FAIL() << word;
    } catch (const ValueError& error) {
      const std::string expected = "the environment variable GRADUS_CPU is '" + std::string(word) +
                                   "'; for this build and processor it may be: ";
      EXPECT_EQ(error.msg().substr(0, expected.size()), expected);
    }
  }
}

}  // namespace
}  // namespace gradus::cpu
