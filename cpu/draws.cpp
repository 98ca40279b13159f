#include "gradus/cpu/draws.h"

#include "gradus/cpu/instruction_set.h"
#include "gradus/tensor/philox.h"

namespace gradus::cpu {

namespace {

__attribute__((always_inline)) inline void draw(uint64_t seed, uint64_t counter, uint64_t* bits) {
  static_assert(philox::kElementsPerBlock == 2);
#pragma omp simd
  for (int i = 0; i < kPiece / 2; ++i) {
    const philox::Block block = philox::block(seed, counter + static_cast<uint64_t>(i));
    bits[2 * i] = words(block, 0);
    bits[2 * i + 1] = words(block, 1);
  }
}

#ifdef __x86_64__
__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))) void draw_avx512(uint64_t seed,
                                                                               uint64_t counter,
                                                                               uint64_t* bits) {
  draw(seed, counter, bits);
}
__attribute__((target("avx2"))) void draw_avx2(uint64_t seed, uint64_t counter, uint64_t* bits) {
  draw(seed, counter, bits);
}
#endif

}  // namespace

void draw_bits(uint64_t seed, uint64_t counter, uint64_t* bits) {
#ifdef __x86_64__
  if (instruction_set() == InstructionSet::avx512) return draw_avx512(seed, counter, bits);
  if (instruction_set() == InstructionSet::avx2) return draw_avx2(seed, counter, bits);
#endif
  draw(seed, counter, bits);
}

}  // namespace gradus::cpu
