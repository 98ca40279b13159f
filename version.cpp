// The text of show_config(). cmake/show_config.cmake writes <gradus_config.def>.
#include "gradus/version.h"

#include <gradus_config.def>

#include "gradus/cpu/instruction_set.h"
#ifdef GRADUS_BUILT_CUDA
#include "gradus/cuda/ops/matmul/wgmma.h"
#endif

namespace gradus {

namespace {

#ifdef __clang__
constexpr const char* kCompiler = "Clang " __clang_version__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

#ifdef GRADUS_BUILT_CUDA
const char* hopper() { return cuda::built_with_wgmma() ? "yes" : "no"; }
#else
const char* hopper() { return "no"; }
#endif

constexpr const char* kSets =
#define SET(name) " " #name
#include <gradus_sets.def>
    ;

// The instruction set of this process.
std::string set_name() {
  const cpu::InstructionSet set = cpu::instruction_set();
#define SET(name) \
  if (set == cpu::InstructionSet::name) return #name;
#include <gradus_sets.def>
  __builtin_unreachable();
}

}  // namespace

std::string show_config() {
  std::string out = std::string("Gradus " GRADUS_VERSION ", ") + kCompiler + " " GRADUS_BUILT_FLAGS;
  out += ", CPU " + set_name();
  out += std::string(", " GRADUS_BUILT_SPEED ", Hopper kernels ") + hopper();
  return out + "\n  instruction sets:" + kSets + GRADUS_BUILT_LIBRARIES;
}

}  // namespace gradus
