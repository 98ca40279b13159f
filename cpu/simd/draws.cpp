// Random elements for one instruction set.
#include "gradus/cpu/simd/draws.h"

#include "gradus/cpu/simd/set.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>

#include "gradus/cpu/simd/loops.h"
#include "gradus/tensor/math/distributions.h"

namespace gradus::cpu::GRADUS_SET {

namespace {

using Lanes [[gnu::vector_size(GRADUS_VECTOR)]] = uint64_t;

// The products of the lower halves of the lanes.
#ifndef __x86_64__
inline Lanes product(Lanes a, Lanes b) { return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF); }
#elif GRADUS_VECTOR == 64
GRADUS_TARGET inline Lanes product(Lanes a, Lanes b) {
  return (Lanes)_mm512_maskz_mul_epu32(0xFF, (__m512i)a, (__m512i)b);
}
#elif GRADUS_VECTOR == 32
GRADUS_TARGET inline Lanes product(Lanes a, Lanes b) {
  return (Lanes)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}
#else
GRADUS_TARGET inline Lanes product(Lanes a, Lanes b) {
  return (Lanes)_mm_mul_epu32((__m128i)a, (__m128i)b);
}
#endif

// The lower halves of two vectors' lanes, the first below.
GRADUS_TARGET inline Lanes joined(Lanes first, Lanes second) {
  return second << 32 | (first & 0xFFFFFFFF);
}

// The bits of kPiece elements: one word of each in `high`, or two words. Two words lie in a list
// each, since the compiler makes vector code of neighbours alone. Neighbours that share words have
// one place.
struct Drawn {
  uint32_t high[kPiece], low[kPiece];
};

// philox::block for many counters: each word of a block in the lower half of a lane, whose upper
// half holds anything. Several vectors at a time, since a round is a chain of instructions.
template <class Bits>
GRADUS_TARGET void draw_words(uint64_t seed, uint64_t counter, Drawn& out) {
  constexpr int kLanes = GRADUS_VECTOR / 8, kTogether = 4, kBlocks = kLanes * kTogether;
  static_assert(kPiece / 4 % kBlocks == 0);
  uint64_t count[kLanes];
  for (int i = 0; i < kLanes; ++i) count[i] = static_cast<uint64_t>(i);
  Lanes lane;
  __builtin_memcpy(&lane, count, sizeof(lane));
  for (int begin = 0; begin < kPiece / Bits::kPerBlock; begin += kBlocks) {
    Lanes c0[kTogether], c1[kTogether], c2[kTogether] = {}, c3[kTogether] = {};
    for (int v = 0; v < kTogether; ++v) {
      c0[v] = lane + (counter + static_cast<uint64_t>(begin + v * kLanes));
      c1[v] = c0[v] >> 32;
    }
    uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < philox::kRounds; ++round) {
      for (int v = 0; v < kTogether; ++v) {
        const Lanes p0 = product(c0[v], Lanes{} + philox::kMultiplier0);
        const Lanes p1 = product(c2[v], Lanes{} + philox::kMultiplier1);
        c0[v] = (p1 >> 32) ^ c1[v] ^ k0, c2[v] = (p0 >> 32) ^ c3[v] ^ k1;
        c1[v] = p1, c3[v] = p0;
      }
      k0 += philox::kWeyl0, k1 += philox::kWeyl1;
    }
    if constexpr (std::is_same_v<Bits, philox::Word>) {
      uint64_t x[kBlocks], y[kBlocks], words[2 * kBlocks];
      for (int v = 0; v < kTogether; ++v) {
        const Lanes first = joined(c0[v], c1[v]), last = joined(c2[v], c3[v]);
        __builtin_memcpy(x + v * kLanes, &first, sizeof(first));
        __builtin_memcpy(y + v * kLanes, &last, sizeof(last));
      }
      for (int i = 0; i < kBlocks; ++i) words[2 * i] = x[i], words[2 * i + 1] = y[i];
      __builtin_memcpy(out.high + 4 * begin, words, sizeof(words));
    } else {
      for (int v = 0; v < kTogether; ++v) {
        const Lanes high = joined(c0[v], c2[v]), low = joined(c1[v], c3[v]);
        __builtin_memcpy(out.high + 2 * (begin + v * kLanes), &high, sizeof(high));
        __builtin_memcpy(out.low + 2 * (begin + v * kLanes), &low, sizeof(low));
      }
    }
  }
}

// out[i] = formula(the bits of element i, in[i]).
template <class T, class Formula>
GRADUS_TARGET void draw_piece(Formula formula, int64_t n, const Drawn& drawn, const T* in, T* out) {
  using Bits = typename Formula::Bits;
  const auto put = [=](int64_t i, Bits bits) {
    if constexpr (requires { formula(bits); })
      out[i] = formula(bits);
    else
      out[i] = formula(bits, in[i]);
  };
  const uint32_t *const high = drawn.high, *const low = drawn.low;
  if constexpr (std::is_same_v<Bits, philox::SharedWords>) {
#pragma omp simd
    for (int64_t i = 0; i < n / 2; ++i) {
      put(2 * i, {high[i], low[i], false});
      put(2 * i + 1, {high[i], low[i], true});
    }
    if (n % 2) put(n - 1, {high[n / 2], low[n / 2], false});
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<Bits, philox::Word>)
        put(i, {high[i]});
      else
        put(i, {high[i], low[i]});
    }
  }
}

Loop convert_loop(ScalarType from, ScalarType to) {
  return loops_of(instruction_set(), from).convert[static_cast<int>(to)];
}

// Dtypes that are not computed with pass through buffers.
template <template <class> class Formula, class T>
void draw_run(const Formula<T>& formula, DrawnRun run) {
  const bool direct = run.dtype == dtype_of<T>;
  const Loop read = direct || !run.in ? nullptr : convert_loop(run.dtype, dtype_of<T>);
  const Loop write = direct ? nullptr : convert_loop(dtype_of<T>, run.dtype);
  using Bits = typename Formula<T>::Bits;
  Drawn bits;
  T buffer[kPiece];
  const auto place = [&](auto* data, int64_t i) {
    return data + i * static_cast<int64_t>(element_size(run.dtype));
  };
  for (int64_t i = 0; i < run.count; i += kPiece) {
    const int64_t n = std::min(run.count - i, kPiece);
    const auto block = static_cast<uint64_t>((run.first + i) / Bits::kPerBlock);
    draw_words<Bits>(run.state.seed, run.state.offset + block, bits);
    const void *const in[] = {run.in ? place(run.in, i) : nullptr}, *const drawn[] = {buffer};
    std::byte* const out = place(run.out, i);
    if (read) read(n, buffer, in);
    draw_piece(formula, n, bits, read ? buffer : static_cast<const T*>(in[0]),
               direct ? reinterpret_cast<T*>(out) : buffer);
    if (write) write(n, out, drawn);
  }
}

void random(Distribution kind, const Scalar& a, const Scalar& b, const DrawnRun& run) {
  draw::visit(kind, a, b, run.dtype, [&](const auto& formula) { draw_run(formula, run); });
}
void random_map(RandomMap op, double number, const DrawnRun& run) {
  draw::visit(op, number, run.dtype, [&](const auto& formula) { draw_run(formula, run); });
}

}  // namespace

}  // namespace gradus::cpu::GRADUS_SET

namespace gradus::cpu {

const Draws& Draws::GRADUS_SET() {
  namespace set = cpu::GRADUS_SET;
  static constexpr Draws table = {set::random, set::random_map};
  return table;
}

}  // namespace gradus::cpu
