#ifdef __x86_64__
#include <immintrin.h>

#include <cstdint>

#define GRADUS_FUSED
#define GRADUS_SET avx512
#define GRADUS_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"), flatten))
#include "gradus/cpu/loops.inc"
#include "gradus/cpu/loops_in_steps.inc"

namespace gradus::cpu::avx512 {

constexpr __mmask16 kAll = 0xFFFF;  // the forms without a mask read what GCC takes for unset

// The bits of the processor's own square root, which waits for its divider: an estimate y of
// 1 / sqrt(x) improved once, and the rest of x that it leaves put right with one rounding.
// Markstein, "IA-64 and Elementary Functions" (2000), section 9.1.
GRADUS_TARGET inline __m512 square_root(__m512 x) {
  const __m512 half = _mm512_set1_ps(0.5f), y = _mm512_maskz_rsqrt14_ps(kAll, x);
  const __m512 root = _mm512_mul_ps(x, y), slope = _mm512_mul_ps(half, y);
  const __m512 lack = _mm512_fnmadd_ps(root, slope, half);
  const __m512 better = _mm512_fmadd_ps(root, lack, root);
  const __m512 rest = _mm512_fnmadd_ps(better, better, x);
  return _mm512_fmadd_ps(rest, _mm512_fmadd_ps(slope, lack, slope), better);
}

// Numbers whose rest would be subnormal, 0, infinities, NaN and what is negative go the other way.
GRADUS_TARGET void square_roots(int64_t n, void* to, const void* const* in) {
  float* const out = static_cast<float*>(to);
  const float* const x = static_cast<const float*>(in[0]);
  constexpr int kLeast = 0x0D000000, kInfinity = 0x7F800000;  // the bits of 2^-101 and infinity
  const __m512i least = _mm512_set1_epi32(kLeast), span = _mm512_set1_epi32(kInfinity - kLeast);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m512 value = _mm512_loadu_ps(x + i);
    const __m512i above = _mm512_sub_epi32(_mm512_castps_si512(value), least);
    const bool all_near = _mm512_cmpge_epu32_mask(above, span) == 0;
    _mm512_storeu_ps(out + i, all_near ? square_root(value) : _mm512_maskz_sqrt_ps(kAll, value));
  }
  const auto last = static_cast<__mmask16>((1u << (n - i)) - 1);
  const __m512 value = _mm512_maskz_loadu_ps(last, x + i);
  _mm512_mask_storeu_ps(out + i, last, _mm512_maskz_sqrt_ps(last, value));
}

constexpr Loops make_own_loops() {
  Loops out = make_loops_in_steps();
  out.map[static_cast<int>(UnaryOp::sqrt)] = square_roots;
  return out;
}

const Loops float_loops = make_own_loops();
const Loops double_loops = make_loops<double>();

}  // namespace gradus::cpu::avx512
#endif
