#ifdef __x86_64__
#define GRADUS_FUSED
#define GRADUS_SET avx2
#define GRADUS_TARGET __attribute__((target("avx2,fma"), flatten))
#include "gradus/cpu/loops.inc"

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

constexpr Loops make_own_loops() {
  Loops out = make_loops<float>();
  out.map[static_cast<int>(UnaryOp::sigmoid)] = sigmoids;
  return out;
}

const Loops float_loops = make_own_loops();
const Loops double_loops = make_loops<double>();

}  // namespace gradus::cpu::avx2
#endif
