#include "gradus/cpu/simd/half_loops.h"

#include "gradus/cpu/instruction_set.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace gradus::cpu {

namespace {

#ifdef __x86_64__
// Converts the whole vectors among n elements; how many elements those have.
__attribute__((target("avx512f"))) int64_t by_sixteen(int64_t n, const float* from, Half* to) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm512_maskz_cvtps_ph(0xFFFF, _mm512_loadu_ps(from + i),
                                              _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return i;
}
__attribute__((target("avx512f"))) int64_t by_sixteen(int64_t n, const Half* from, float* to) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    _mm512_storeu_ps(to + i,
                     _mm512_maskz_cvtph_ps(
                         0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i))));
  return i;
}
// By the processor's own word, since not every compiler's __builtin_cpu_supports knows f16c.
bool converts_halves() {
  static const bool found = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
  }();
  return found;
}
__attribute__((target("avx,f16c"))) int64_t by_eight(int64_t n, const float* from, Half* to) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  return i;
}
__attribute__((target("avx,f16c"))) int64_t by_eight(int64_t n, const Half* from, float* to) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  return i;
}
#endif

template <class S, class D>
void convert(int64_t n, const S* from, D* to) {
  int64_t i = 0;
#ifdef __x86_64__
  const InstructionSet set = instruction_set();
  if (set == InstructionSet::avx512)
    i = by_sixteen(n, from, to);
  else if (set == InstructionSet::avx2 && converts_halves())
    i = by_eight(n, from, to);
#endif
  for (; i < n; ++i) to[i] = static_cast<D>(from[i]);
}

}  // namespace

void convert_run(int64_t n, const float* from, Half* to) { convert(n, from, to); }
void convert_run(int64_t n, const Half* from, float* to) { convert(n, from, to); }

}  // namespace gradus::cpu
