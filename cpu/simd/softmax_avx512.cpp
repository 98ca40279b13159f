#ifdef __x86_64__
#define GRADUS_FUSED
#define GRADUS_SET avx512
#define GRADUS_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"), flatten))
#include "gradus/cpu/simd/formulas_avx512.inc"
#include "gradus/cpu/simd/softmax_loops.inc"

namespace gradus::cpu::avx512 {

namespace {

// e^x for x <= 0 in half as many products as Exp: x = (k / 16) ln 2 + r, to 2 units of the last
// place where x > -10. 0 where the result is below the normal numbers.
struct Share {
  Powers power;

  GRADUS_TARGET __m512 operator()(__m512 x) const {
    const __m512 rounder = all(math::kRounder<float>);
    const __m512 shifted = _mm512_fmadd_ps(x, all(0x1.715476p+4f), rounder);
    const __m512 r = _mm512_fnmadd_ps(_mm512_sub_ps(shifted, rounder), all(kLn2Sixteenth), x);
    const __m512 e = power[_mm512_castps_si512(shifted)];
    const __m512 slope = slope_of_exp(r);
    const __mmask16 normal = _mm512_cmp_ps_mask(x, all(-87), _CMP_NLT_UQ);  // or NaN
    return _mm512_maskz_fmadd_ps(normal, _mm512_mul_ps(e, r), slope, e);
  }
};

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

// What a line's sum gives for its last pass: the logarithm to subtract, or the factor.
template <bool kLog>
struct Scale {
  GRADUS_TARGET __m512 operator()(__m512 sum) const { return _mm512_div_ps(all(1), sum); }
};
template <>
struct Scale<true> : Log {};

// Calls f(i, mask) for every vector of a line of n elements, whose first one is element i.
template <class F>
GRADUS_TARGET void for_vectors(int64_t n, F f) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) f(i, kAll);
  if (i < n) f(i, first_lanes(n - i));
}

// The largest elements of a line, in lanes.
GRADUS_TARGET inline __m512 largest_in_lanes(int64_t n, const float* x) {
  const __m512 least = all(-std::numeric_limits<float>::infinity());
  __m512 most = least;
  for_vectors(n, [&](int64_t i, __mmask16 mask) GRADUS_TARGET {
    most = Larger()(_mm512_mask_loadu_ps(least, mask, x + i), most);
  });
  return most;
}
// out[l] becomes the fold of line l's lanes.
template <class F>
GRADUS_TARGET void fold_all(int64_t count, __m512* line, float* out) {
  for (int64_t l = count; l % 16 != 0; ++l) line[l] = line[0];  // read by nobody
  for (int64_t l = 0; l < count; l += 16) _mm512_storeu_ps(out + l, fold_lines<F>(line + l));
}

// Lines of one piece, as many at a time as stay in the first-level cache: each pass waits for the
// end of the one before.
template <bool kLog>
GRADUS_TARGET void softmax_some_lines(int64_t n, int64_t count, const int64_t* apart, float* out,
                                      const float* const* in) {
  constexpr int64_t kMost = 32;
  const Share exp;
  const Scale<kLog> scale_of;
  const int64_t to_apart = apart[0], from_apart = apart[1];
  const int64_t batch = n <= 64 ? kMost : n < 256 ? kMost / 2 : kMost / 8;
  for (int64_t first = 0; first < count; first += batch) {
    const int64_t some = count - first < batch ? count - first : batch;
    const float* const x = in[0] + first * from_apart;
    float* const y = out + first * to_apart;
    __m512 line[kMost];
    float top[kMost], sum[kMost], scale[kMost];
    for (int64_t l = 0; l < some; ++l) line[l] = largest_in_lanes(n, x + l * from_apart);
    fold_all<Larger>(some, line, top);
    for (int64_t l = 0; l < some; ++l) {
      const float* const from = x + l * from_apart;
      float* const to = y + l * to_apart;
      const __m512 about = all(top[l]);
      __m512 total = _mm512_setzero_ps();
      for_vectors(n, [&](int64_t i, __mmask16 mask) GRADUS_TARGET {
        const __m512 e = exp(_mm512_sub_ps(_mm512_maskz_loadu_ps(mask, from + i), about));
        if constexpr (!kLog) _mm512_mask_storeu_ps(to + i, mask, e);
        total = _mm512_mask_add_ps(total, mask, total, e);
      });
      line[l] = total;
    }
    fold_all<Sum>(some, line, sum);
    for (int64_t l = 0; l < some; l += 16)
      _mm512_storeu_ps(scale + l, scale_of(_mm512_loadu_ps(sum + l)));
    for (int64_t l = 0; l < some; ++l) {
      const float* const from = kLog ? x + l * from_apart : y + l * to_apart;
      float* const to = y + l * to_apart;
      const __m512 about = all(top[l]), by = all(scale[l]);
      for_vectors(n, [&](int64_t i, __mmask16 mask) GRADUS_TARGET {
        const __m512 value = _mm512_maskz_loadu_ps(mask, from + i);
        const __m512 result =
            kLog ? _mm512_sub_ps(_mm512_sub_ps(value, about), by) : _mm512_mul_ps(value, by);
        _mm512_mask_storeu_ps(to + i, mask, result);
      });
    }
  }
}

// kVectors times 16 lines side by side, of which `mask` has those of the last vector: two vectors
// wait for each other's passes less than one for its own.
template <bool kLog, int kVectors>
GRADUS_TARGET void softmax_vectors(int64_t n, __mmask16 mask, int64_t to_step, int64_t from_step,
                                   float* y, const float* x) {
  const Share exp;
  const Scale<kLog> scale_of;
  const Larger larger;
  const auto mask_of = [&](int v) { return v + 1 < kVectors ? kAll : mask; };
  const auto value = [&](int64_t i, int v) GRADUS_TARGET {
    return _mm512_maskz_loadu_ps(mask_of(v), x + i * from_step + 16 * v);
  };
  __m512 top[kVectors], scale[kVectors];
  for (__m512& t : top) t = all(-std::numeric_limits<float>::infinity());
  for_rows(n, [&](int64_t i, auto four) GRADUS_TARGET {
    for (int v = 0; v < kVectors; ++v)
      if constexpr (four)
        top[v] = larger(
            larger(larger(value(i, v), value(i + 1, v)), larger(value(i + 2, v), value(i + 3, v))),
            top[v]);
      else
        top[v] = larger(value(i, v), top[v]);
  });
  const auto term = [&](int64_t i, int v) GRADUS_TARGET {
    const __m512 e = exp(_mm512_sub_ps(value(i, v), top[v]));
    if constexpr (!kLog) _mm512_mask_storeu_ps(y + i * to_step + 16 * v, mask_of(v), e);
    return e;
  };
  __m512d low[kVectors], high[kVectors];  // sums of eight lines each
  for (int v = 0; v < kVectors; ++v) low[v] = high[v] = _mm512_setzero_pd();
  for_rows(n, [&](int64_t i, auto four) GRADUS_TARGET {
    for (int v = 0; v < kVectors; ++v) {
      __m512 some = term(i, v);
      if constexpr (four)
        some = _mm512_add_ps(_mm512_add_ps(some, term(i + 1, v)),
                             _mm512_add_ps(term(i + 2, v), term(i + 3, v)));
      low[v] = _mm512_add_pd(
          low[v], _mm512_maskz_cvtps_pd(0xFF, _mm512_maskz_extractf32x8_ps(0xFF, some, 0)));
      high[v] = _mm512_add_pd(
          high[v], _mm512_maskz_cvtps_pd(0xFF, _mm512_maskz_extractf32x8_ps(0xFF, some, 1)));
    }
  });
  for (int v = 0; v < kVectors; ++v) {
    const __m256 first = _mm512_maskz_cvtpd_ps(0xFF, low[v]);
    scale[v] = scale_of(_mm512_maskz_insertf32x8(kAll, _mm512_castps256_ps512(first),
                                                 _mm512_maskz_cvtpd_ps(0xFF, high[v]), 1));
  }
  for (int64_t i = 0; i < n; ++i)
    for (int v = 0; v < kVectors; ++v) {
      float* const to = y + i * to_step + 16 * v;
      const __m512 result = kLog ? _mm512_sub_ps(_mm512_sub_ps(value(i, v), top[v]), scale[v])
                                 : _mm512_mul_ps(_mm512_maskz_loadu_ps(mask_of(v), to), scale[v]);
      _mm512_mask_storeu_ps(to, mask_of(v), result);
    }
}

template <bool kLog>
GRADUS_TARGET void softmax_some_columns(int64_t n, int64_t width, const int64_t* step, float* out,
                                        const float* const* in) {
  int64_t first = 0;
  for (; first + 16 < width; first += 32)
    softmax_vectors<kLog, 2>(n, first_lanes(width - first - 16), step[0], step[1], out + first,
                             in[0] + first);
  if (first < width)
    softmax_vectors<kLog, 1>(n, first_lanes(width - first), step[0], step[1], out + first,
                             in[0] + first);
}

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
