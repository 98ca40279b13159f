#include "gradus/cpu/draws.h"

#include <cmath>

#include "gradus/tensor/philox.h"

#ifdef __x86_64__
#include <immintrin.h>

#define GRADUS_SET avx512
#define GRADUS_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"), flatten))
#define GRADUS_WIDTH 64
#include "gradus/cpu/draws.inc"

#define GRADUS_SET avx2
#define GRADUS_TARGET __attribute__((target("avx2"), flatten))
#define GRADUS_WIDTH 32
#include "gradus/cpu/draws.inc"
#endif

#define GRADUS_SET baseline
#define GRADUS_TARGET __attribute__((flatten))
#define GRADUS_WIDTH 16
#include "gradus/cpu/draws.inc"

namespace gradus::cpu {

const Draws& draws_of([[maybe_unused]] InstructionSet set) {
#ifdef __x86_64__
  if (set == InstructionSet::avx512) return avx512::kDraws;
  if (set == InstructionSet::avx2) return avx2::kDraws;
#endif
  return baseline::kDraws;
}

}  // namespace gradus::cpu
