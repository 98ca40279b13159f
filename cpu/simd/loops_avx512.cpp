#ifdef __x86_64__
#define GRADUS_FUSED
#define GRADUS_SET avx512
#define GRADUS_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"), flatten))
#include "gradus/cpu/simd/formulas_avx512.inc"
#include "gradus/cpu/simd/loops.inc"

namespace gradus::cpu::avx512 {

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
  const __mmask16 last = first_lanes(n - i);
  const __m512 value = _mm512_maskz_loadu_ps(last, x + i);
  _mm512_mask_storeu_ps(out + i, last, _mm512_maskz_sqrt_ps(last, value));
}

// A formula of formulas_avx512.inc, for all numbers.
template <class Formula>
GRADUS_TARGET void apply(int64_t n, void* to, const void* const* in) {
  float* const out = static_cast<float*>(to);
  const float* const x = static_cast<const float*>(in[0]);
  const Formula f;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(out + i, f(_mm512_loadu_ps(x + i)));
  const __mmask16 last = first_lanes(n - i);
  if (last) _mm512_mask_storeu_ps(out + i, last, f(_mm512_maskz_loadu_ps(last, x + i)));
}

GRADUS_TARGET void exponentials(int64_t n, void* to, const void* const* in) {
  float* const out = static_cast<float*>(to);
  const float* const x = static_cast<const float*>(in[0]);
  constexpr int kTogether = 4;
  int64_t i = 0;
  for (; i + 16 * kTogether <= n; i += 16 * kTogether) {
    __m512 value[kTogether];
    for (int v = 0; v < kTogether; ++v) value[v] = _mm512_loadu_ps(x + i + 16 * v);
    make_exp(value);
    for (int v = 0; v < kTogether; ++v) _mm512_storeu_ps(out + i + 16 * v, value[v]);
  }
  for (; i < n; i += 16) {
    const __mmask16 some = first_lanes(n - i);
    __m512 value[] = {_mm512_maskz_loadu_ps(some, x + i)};
    make_exp(value);
    _mm512_mask_storeu_ps(out + i, some, value[0]);
  }
}

// In which lanes the larger of two magnitudes is above Formula::kMost. NaN has none beside a
// number, but a signaling one, or two of them, count as above.
template <class Formula>
GRADUS_TARGET inline __mmask16 beyond(__m512 a, __m512 b) {
  constexpr int kLarger = 0b1011;  // of magnitudes, without a sign
  const __m512 larger = _mm512_maskz_range_ps(kAll, a, b, kLarger);
  return _mm512_cmp_ps_mask(larger, all(Formula::kMost), _CMP_NLE_UQ);
}

// A formula for up to 16 numbers, of which those beyond it go the way of all instruction sets.
template <UnaryOp op, class Formula>
[[gnu::noinline]] GRADUS_TARGET void apply_to_some(int64_t n, float* out, const float* x) {
  float general[16];
  const void* const from[] = {x};
  map<op, float>(n, general, from);
  const __mmask16 some = first_lanes(n);
  const __m512 value = _mm512_maskz_loadu_ps(some, x);
  const __mmask16 far = some & beyond<Formula>(value, value);
  _mm512_mask_storeu_ps(out, some, _mm512_mask_loadu_ps(Formula()(value), far, general));
}

// A formula for magnitudes up to Formula::kMost.
template <UnaryOp op, class Formula>
GRADUS_TARGET void apply_within(int64_t n, void* to, const void* const* in) {
  float* const out = static_cast<float*>(to);
  const float* const x = static_cast<const float*>(in[0]);
  const Formula f;
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m512 a = _mm512_loadu_ps(x + i), b = _mm512_loadu_ps(x + i + 16);
    if (beyond<Formula>(a, b) == 0) [[likely]] {
      _mm512_storeu_ps(out + i, f(a));
      _mm512_storeu_ps(out + i + 16, f(b));
    } else {
      apply_to_some<op, Formula>(16, out + i, x + i);
      apply_to_some<op, Formula>(16, out + i + 16, x + i + 16);
    }
  }
  for (; i < n; i += 16) {
    const __mmask16 some = first_lanes(n - i);
    const __m512 value = _mm512_maskz_loadu_ps(some, x + i);
    if (beyond<Formula>(value, value) == 0)
      _mm512_mask_storeu_ps(out + i, some, f(value));
    else
      apply_to_some<op, Formula>(n - i < 16 ? n - i : 16, out + i, x + i);
  }
}

constexpr LoopTable make_own_table() {
  LoopTable out = make_table();
  Loops& floats = out[static_cast<int>(kFloat)];
  const auto own = [&](UnaryOp op, Loop loop) { floats.map[static_cast<int>(op)] = loop; };
  own(UnaryOp::sqrt, square_roots);
  own(UnaryOp::exp, exponentials);
  own(UnaryOp::sigmoid, apply_within<UnaryOp::sigmoid, Sigmoid>);
  own(UnaryOp::gelu, apply<Gelu>);
  own(UnaryOp::log, apply<Log>);
  own(UnaryOp::tanh, apply<Tanh>);
  own(UnaryOp::sin, apply_within<UnaryOp::sin, Sine<0>>);
  own(UnaryOp::cos, apply_within<UnaryOp::cos, Sine<1>>);
  return out;
}

const LoopTable loops = make_own_table();

}  // namespace gradus::cpu::avx512
#endif
