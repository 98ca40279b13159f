#ifdef __x86_64__
#define GRADUS_FUSED
#define GRADUS_SET avx2
#define GRADUS_TARGET __attribute__((target("avx2,fma"), flatten))
#include "gradus/cpu/simd/loops.inc"

namespace gradus::cpu::avx2 {

// In steps: a processor works on the next vectors while it waits for one's long chain of
// instructions, and on more of them where the chain is cut into two loops.
GRADUS_TARGET inline void sigmoids(int64_t n, void* to, const void* const* in) {
  const float* const x = static_cast<const float*>(in[0]);
  if (!all_near<UnaryOp::sigmoid>(n, x)) return map<UnaryOp::sigmoid, float>(n, to, in);
  float* const out = static_cast<float*>(to);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = math::exp(math::Near<float>(-x[i])).value;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = math::logistic_of_power(out[i]);
}

constexpr LoopTable make_own_table() {
  LoopTable out = make_table();
  out[static_cast<int>(kFloat)].map[static_cast<int>(UnaryOp::sigmoid)] = sigmoids;
  return out;
}

const LoopTable loops = make_own_table();

}  // namespace gradus::cpu::avx2
#endif
