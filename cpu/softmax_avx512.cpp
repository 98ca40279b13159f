#ifdef __x86_64__
#define GRADUS_FUSED
#define GRADUS_SET avx512
#define GRADUS_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"), flatten))
#include "gradus/cpu/formulas_avx512.inc"
#include "gradus/cpu/softmax_loops.inc"

namespace gradus::cpu::avx512 {

namespace {

struct Sum {
  GRADUS_TARGET __m512 operator()(__m512 a, __m512 b) const { return _mm512_add_ps(a, b); }
};
struct Larger {
  GRADUS_TARGET __m512 operator()(__m512 a, __m512 b) const {
    return _mm512_maskz_max_ps(kAll, a, b);
  }
};

// One step of a fold: lanes 8, 4, 2 and 1 apart of two vectors, into one.
template <class F>
struct FoldStep {
  F f;

  GRADUS_TARGET __m512 by_8(__m512 a, __m512 b) const {
    return f(_mm512_mask_blend_ps(0xFF00, a, b), _mm512_maskz_shuffle_f32x4(kAll, a, b, 0x4E));
  }
  GRADUS_TARGET __m512 by_4(__m512 a, __m512 b) const {
    return f(_mm512_maskz_shuffle_f32x4(kAll, a, b, 0x88),
             _mm512_maskz_shuffle_f32x4(kAll, a, b, 0xDD));
  }
  GRADUS_TARGET __m512 by_2(__m512 a, __m512 b) const {
    return f(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xEE));
  }
  GRADUS_TARGET __m512 by_1(__m512 a, __m512 b) const {
    return f(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xDD));
  }
};

// Lane i becomes the fold of line i's lanes: the upper half onto the lower, as in fold().
template <class F>
GRADUS_TARGET __m512 fold_lines(const __m512* line) {
  const FoldStep<F> step;
  __m512 four[4];  // of lines i, i + 4, i + 8 and i + 12
  for (int i = 0; i < 4; ++i)
    four[i] = step.by_4(step.by_8(line[i], line[i + 4]), step.by_8(line[i + 8], line[i + 12]));
  return step.by_1(step.by_2(four[0], four[1]), step.by_2(four[2], four[3]));
}

// Calls f(i, mask) for every vector of a line of n elements, whose first one is element i.
template <class F>
GRADUS_TARGET void for_vectors(int64_t n, F f) {
  int64_t i = 0;
  for (; i + 16 < n; i += 16) f(i, kAll);
  f(i, first_lanes(n - i));
}

// As quotient() does it.
GRADUS_TARGET inline __m512 quotients(__m512 e, __m512 sum, __m512 reciprocal) {
  const __m512 q = _mm512_mul_ps(e, reciprocal);
  return _mm512_fmadd_ps(_mm512_fnmadd_ps(q, sum, e), reciprocal, q);
}

// Lines of one piece, so many at a time that they stay in the first-level cache.
template <bool kLog>
GRADUS_TARGET void softmax_some_lines(int64_t n, int64_t count, const int64_t* apart, float* out,
                                      const float* const* in) {
  const __m512 least = all(-std::numeric_limits<float>::infinity()), zero = _mm512_setzero_ps();
  const Exp exp;
  const int64_t batch = n < 256 ? kBatch : kBatch / 4;
  for (int64_t first = 0; first < count; first += batch) {
    const int64_t some = count - first < batch ? count - first : batch;
    const float* const x = in[0] + first * apart[1];
    float* const y = out + first * apart[0];
    __m512 line[kBatch];
    float top[kBatch], sum[kBatch], scale[kBatch];
    for (int64_t l = 0; l < some; ++l) {
      const float* const from = x + l * apart[1];
      __m512 most = least;
      for_vectors(n, [&](int64_t i, __mmask16 mask) GRADUS_TARGET {
        most = Larger()(_mm512_mask_loadu_ps(least, mask, from + i), most);
      });
      line[l] = most;
    }
    for (int64_t l = some; l < kBatch; ++l) line[l] = zero;
    _mm512_storeu_ps(top, fold_lines<Larger>(line));
    for (int64_t l = 0; l < some; ++l) {
      const float* const from = x + l * apart[1];
      float* const to = y + l * apart[0];
      const __m512 about = all(top[l]);
      __m512 total = zero;
      for_vectors(n, [&](int64_t i, __mmask16 mask) GRADUS_TARGET {
        const __m512 e = exp(_mm512_sub_ps(_mm512_maskz_loadu_ps(mask, from + i), about));
        if constexpr (!kLog) _mm512_mask_storeu_ps(to + i, mask, e);
        total = _mm512_mask_add_ps(total, mask, total, e);
      });
      line[l] = total;
    }
    const __m512 sums = fold_lines<Sum>(line);
    _mm512_storeu_ps(sum, sums);
    if constexpr (kLog)
      for_each<float>(kBatch, [&](int64_t l) { scale[l] = math::log(sum[l]); });
    else
      _mm512_storeu_ps(scale, _mm512_div_ps(all(1), sums));
    for (int64_t l = 0; l < some; ++l) {
      const float* const from = kLog ? x + l * apart[1] : y + l * apart[0];
      float* const to = y + l * apart[0];
      const __m512 about = all(top[l]), of = all(sum[l]), by = all(scale[l]);
      for_vectors(n, [&](int64_t i, __mmask16 mask) GRADUS_TARGET {
        const __m512 value = _mm512_maskz_loadu_ps(mask, from + i);
        const __m512 result =
            kLog ? _mm512_sub_ps(_mm512_sub_ps(value, about), by) : quotients(value, of, by);
        _mm512_mask_storeu_ps(to + i, mask, result);
      });
    }
  }
}

// Lines side by side, 16 at a time.
template <bool kLog>
GRADUS_TARGET void softmax_some_columns(int64_t n, int64_t width, const int64_t* step, float* out,
                                        const float* const* in) {
  const Exp exp;
  for (int64_t first = 0; first < width; first += 16) {
    const __mmask16 mask = first_lanes(width - first);
    const float* const x = in[0] + first;
    float* const y = out + first;
    const auto value = [&](int64_t i)
                           GRADUS_TARGET { return _mm512_maskz_loadu_ps(mask, x + i * step[1]); };
    const Larger larger;
    __m512 top = all(-std::numeric_limits<float>::infinity());
    for_rows(n, [&](int64_t i, auto four) GRADUS_TARGET {
      if constexpr (four)
        top =
            larger(larger(larger(value(i), value(i + 1)), larger(value(i + 2), value(i + 3))), top);
      else
        top = larger(value(i), top);
    });
    const auto term = [&](int64_t i) GRADUS_TARGET {
      const __m512 e = exp(_mm512_sub_ps(value(i), top));
      if constexpr (!kLog) _mm512_mask_storeu_ps(y + i * step[0], mask, e);
      return e;
    };
    __m512d low = _mm512_setzero_pd(), high = low;  // sums of eight lines each
    for_rows(n, [&](int64_t i, auto four) GRADUS_TARGET {
      __m512 some = term(i);
      if constexpr (four)
        some = _mm512_add_ps(_mm512_add_ps(some, term(i + 1)),
                             _mm512_add_ps(term(i + 2), term(i + 3)));
      low = _mm512_add_pd(low,
                          _mm512_maskz_cvtps_pd(0xFF, _mm512_maskz_extractf32x8_ps(0xFF, some, 0)));
      high = _mm512_add_pd(
          high, _mm512_maskz_cvtps_pd(0xFF, _mm512_maskz_extractf32x8_ps(0xFF, some, 1)));
    });
    alignas(64) float sum[16], scale[16];
    _mm256_store_ps(sum, _mm512_maskz_cvtpd_ps(0xFF, low));
    _mm256_store_ps(sum + 8, _mm512_maskz_cvtpd_ps(0xFF, high));
    for_each<float>(16, [&](int64_t l) { scale[l] = kLog ? math::log(sum[l]) : 1 / sum[l]; });
    const __m512 of = _mm512_load_ps(sum), by = _mm512_load_ps(scale);
    for (int64_t i = 0; i < n; ++i) {
      const __m512 result = kLog ? _mm512_sub_ps(_mm512_sub_ps(value(i), top), by)
                                 : quotients(_mm512_maskz_loadu_ps(mask, y + i * step[0]), of, by);
      _mm512_mask_storeu_ps(y + i * step[0], mask, result);
    }
  }
}

// With the bits of softmax_lines and softmax_columns.
template <bool kLog>
GRADUS_TARGET void lines(int64_t n, int64_t count, const int64_t* apart, float* out,
                         const float* const* in) {
  (n <= kPiece * kLanes<float> ? softmax_some_lines<kLog>
                               : softmax_lines<kLog, float>)(n, count, apart, out, in);
}

template <bool kLog>
GRADUS_TARGET void columns(int64_t n, int64_t width, const int64_t* step, float* out,
                           const float* const* in) {
  constexpr int64_t kNear = 16384;  // elements that stay in a cache from pass to pass
  const bool near = n * (step[0] < step[1] ? step[1] : step[0]) <= kNear;
  (near ? softmax_some_columns<kLog> : softmax_columns<kLog, float>)(n, width, step, out, in);
}

constexpr SoftmaxLoops<float> own_loops() {
  SoftmaxLoops<float> out = softmax_loops<float>();
  out.softmax = {lines<false>, columns<false>};
  out.log_softmax = {lines<true>, columns<true>};
  return out;
}

}  // namespace

const SoftmaxSet softmax_set = {own_loops(), softmax_loops<double>()};

}  // namespace gradus::cpu::avx512
#endif
