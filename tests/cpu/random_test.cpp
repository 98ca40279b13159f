// Random numbers on the CPU: their bits, moments and bounds.
#include <gtest/gtest.h>

#include <cmath>

#include "gradus/cpu/simd/draws.h"
#include "gradus/gradus.h"
#include "gradus/tensor/math/distributions.h"
#include "tests/random.h"

namespace gradus::test {
namespace {

using philox::SharedWords;
using philox::Word;
using philox::Words;

Tensor draw(Distribution kind, double a, double b, PhiloxState state, int64_t n,
            ScalarType dtype = kFloat) {
  const Tensor out = empty({n}, dtype);
  cpu_backend().random(kind, a, b, state, out);
  return out;
}

TEST(CpuRandom, ElementsFollowThePhiloxStream) {
  const PhiloxState state{static_cast<uint64_t>(pick(0, INT64_MAX)), 17};
  const Tensor x = draw(Distribution::uniform, -2, 5, state, 50'000);
  for (int64_t i : {int64_t{0}, int64_t{1}, pick(0, 49'999), int64_t{49'999}}) {
    const Word w = philox::bits_of<Word>(state.seed, state.offset, static_cast<uint64_t>(i));
    const double unit = static_cast<double>(w.bits >> 8) / (1 << 24);
    EXPECT_NEAR(get(x, i), -2 + 7 * unit, 1e-6);
  }
  for (const int64_t n : {1, 2, 3, 255, 256, 257, 9999}) {
    const Tensor all = draw(Distribution::randint, 0, 1 << 30, state, n, kLong);
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(get(all, i),
                static_cast<double>(
                    philox::words(state.seed, state.offset, static_cast<uint64_t>(i)).joined() %
                    (1 << 30)))
          << i << " of " << n;
  }
  // A draw that starts later continues the stream.
  const Tensor later = draw(Distribution::uniform, -2, 5, {state.seed, state.offset + 50}, 100);
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(get(later, i), get(x, i + 200));
}

TEST(CpuRandom, EveryInstructionSetDrawsTheSameWords) {
  constexpr int64_t n = 2 * cpu::kPiece;
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    for (const uint64_t counter : {uint64_t{0}, rng()(), (uint64_t{1} << 32) - 37, ~uint64_t{99}}) {
      const PhiloxState state{rng()(), counter};
      const auto draw = [&](Distribution kind, Scalar a, Scalar b, auto* out) {
        cpu::table_of<cpu::Draws>(set).random(kind, a, b,
                                              {state, 0, n, dtype_of<std::decay_t<decltype(*out)>>,
                                               reinterpret_cast<std::byte*>(out), nullptr});
      };
      int64_t words[n];
      draw(Distribution::randint, 0, INT64_MAX, words);
      float word[n];
      draw(Distribution::uniform, 0, 1, word);
      for (uint64_t i = 0; i < n; ++i) {
        const uint64_t joined = philox::words(state.seed, counter, i).joined();
        ASSERT_EQ(words[i], static_cast<int64_t>(joined % INT64_MAX)) << i;
        ASSERT_EQ(word[i], philox::unit(philox::bits_of<Word>(state.seed, counter, i))) << i;
      }
    }
  }
}

// Every word of a block belongs to one element, but for those that two share.
TEST(CpuRandom, ElementsShareABlock) {
  const philox::Block block{{1, 2, 3, 4}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Word::of(block, i).bits, block.word[i]);
    const SharedWords shared = SharedWords::of(block, i);
    EXPECT_EQ(shared.high, i < 2 ? 1u : 3u);
    EXPECT_EQ(shared.low, i < 2 ? 2u : 4u);
    EXPECT_EQ(shared.second, i % 2 == 1);
  }
  EXPECT_EQ(Words::of(block, 1).joined(), uint64_t{3} << 32 | 4);
  EXPECT_EQ(philox::bits_of<Word>(7, 5, 6).bits, philox::block(7, 6).word[2]);
}

// The formulas in a wider type.
using Wide = long double;
constexpr Wide kPi = 3.14159265358979323846264338327950288L;
Wide wide_normal(uint32_t high, uint32_t low, bool second) {
  const Wide radius = std::sqrt(-2 * std::log((static_cast<Wide>(high) + 1) * 0x1p-32L));
  const uint32_t quarter = (low + (1u << 29)) >> 30;
  const Wide rest = static_cast<Wide>(static_cast<int32_t>(low << 2)) * 0x1p-33L * kPi;
  const Wide cosines[] = {std::cos(rest), -std::sin(rest), -std::cos(rest), std::sin(rest)};
  return radius * cosines[second ? (quarter + 3) % 4 : quarter];  // sin x = cos(x - pi / 2)
}
Wide wide_normal(Words w) { return wide_normal(w.high, w.low, false); }
Wide wide_normal(SharedWords w) { return wide_normal(w.high, w.low, w.second); }
Wide wide_exponential(Words w) {
  return -std::log1p(-static_cast<Wide>(w.joined() >> 11) * 0x1p-53L);
}
Wide wide_exponential(Word w) {
  return -std::log1p(-(static_cast<Wide>(w.bits) + 0.5L) * 0x1p-32L);
}
Wide wide_cauchy(uint64_t place, int64_t half) {  // over twice `half`
  const auto at = static_cast<int64_t>(place);
  const Wide turn = kPi / static_cast<Wide>(2 * half);
  if (std::abs(at - half) < half / 2) return std::tan(static_cast<Wide>(at - half) * turn);
  return -1 / std::tan(static_cast<Wide>(at < half ? at : at - 2 * half) * turn);
}
Wide wide_cauchy(Words w) { return wide_cauchy(w.joined() >> 11 | 1, int64_t{1} << 52); }
Wide wide_cauchy(Word w) { return wide_cauchy(uint64_t{w.bits} << 1 | 1, int64_t{1} << 32); }

// The distance in units of the last place of T.
template <class T>
double ulps(T got, Wide truth) {
  if (truth == 0) return got == 0 ? 0 : HUGE_VAL;
  const Wide ulp = std::ldexp(Wide{1}, std::ilogb(truth) + 1 - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<Wide>(got) - truth) / ulp);
}

// What tensor/math/distributions.h promises, in units of the last place.
constexpr double kNormalBound = 5, kExponentialBound = 2.5, kCauchyBound = 5;

template <class T, class Bits>
void expect_formulas_near(Bits bits) {
  ASSERT_LE(ulps(T{draw::standard_exponential(bits)}, wide_exponential(bits)), kExponentialBound);
  ASSERT_LE(ulps(T{draw::standard_cauchy(bits)}, wide_cauchy(bits)), kCauchyBound);
}

// Words at the ends of the range, where the tails are, and where a formula changes its branch.
TEST(CpuRandom, FormulasAreNearTheTruth) {
  std::vector<uint32_t> places;
  for (const uint32_t place : {0u, 1u << 29, 1u << 30, 1u << 31, 3u << 29, 3u << 30, 0xB504F334u,
                               0x4AFB0CCCu, 5u << 29, 7u << 29})
    for (uint32_t next = 0; next < 5; ++next) places.push_back(place + next - 2);
  for (int shift = 0; shift < 32; ++shift) {
    const auto some = static_cast<uint32_t>(rng()() & 0xFFFFFFFF) >> shift;
    places.push_back(some), places.push_back(~some);
  }
  for (const uint32_t high : places)
    for (const uint32_t low : places) {
      const Words w{high, low};
      expect_formulas_near<double>(w);
      ASSERT_LE(ulps(draw::standard_normal(w), wide_normal(w)), kNormalBound);
      for (const bool second : {false, true}) {
        const SharedWords shared{high, low, second};
        ASSERT_LE(ulps(draw::standard_normal(shared), wide_normal(shared)), kNormalBound);
      }
      ASSERT_EQ(philox::unit(w), static_cast<double>(w.joined() >> 11) * 0x1p-53);
    }
  for (const uint32_t bits : places) {
    expect_formulas_near<float>(Word{bits});
    ASSERT_EQ(philox::unit(Word{bits}), static_cast<float>(bits >> 8) * 0x1p-24f);
  }
  EXPECT_GT(std::abs(draw::standard_normal(SharedWords{0, 0, false})), 6.66f);
  EXPECT_GT(draw::standard_exponential(Words{~0u, ~0u}), 36.7);
  EXPECT_GT(draw::standard_exponential(Word{~0u}), 22.8f);
  EXPECT_GT(draw::standard_exponential(Word{0}), 0);
}

template <class T>
void expect_draws_near(const cpu::Draws& draws) {
  const PhiloxState state{rng()(), rng()() >> 1};
  constexpr int64_t n = 20'001;
  std::vector<T> out(n);
  const auto draw = [&](Distribution kind, double a, double b) {
    draws.random(kind, a, b,
                 {state, 0, n, dtype_of<T>, reinterpret_cast<std::byte*>(out.data()), nullptr});
  };
  const auto expect = [&]<class Bits>(double bound, auto truth, TypeTag<Bits>) {
    for (int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<size_t>(i);
      const Bits bits = philox::bits_of<Bits>(state.seed, state.offset, k);
      ASSERT_LE(ulps(out[k], truth(bits)), bound) << i;
    }
  };
  using Bits = draw::BitsOf<T>;
  using Normal = typename draw::Normal<T>::Bits;
  constexpr double eps = std::numeric_limits<T>::epsilon();
  const auto normal = [](auto bits) { return wide_normal(bits); };
  draw(Distribution::normal, 0, 1), expect(kNormalBound, normal, TypeTag<Normal>{});
  draw(Distribution::exponential, 1, 0);
  expect(
      kExponentialBound, [](auto bits) { return wide_exponential(bits); }, TypeTag<Bits>{});
  draw(Distribution::cauchy, 0, 1);
  expect(
      kCauchyBound, [](auto bits) { return wide_cauchy(bits); }, TypeTag<Bits>{});
  // The error of the exponent counts in full.
  draw(Distribution::log_normal, 0.5, 2);
  for (size_t k = 0; k < out.size(); ++k) {
    const Wide log =
        2 * wide_normal(philox::bits_of<Normal>(state.seed, state.offset, k)) + Wide{0.5};
    const Wide error = std::fabs(out[k] / std::exp(log) - 1);
    ASSERT_LE(error, eps * (3 + kNormalBound * (0.5 + std::fabs(log)))) << k;
  }
  const double p = test::real(0.01, 0.99);
  draw(Distribution::bernoulli, p, 0);
  for (size_t k = 0; k < out.size(); ++k)
    ASSERT_EQ(out[k], philox::bits_of<Word>(state.seed, state.offset, k).bits * 0x1p-32 < p);
}

TEST(CpuRandom, EveryInstructionSetIsNearTheTruth) {
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    expect_draws_near<float>(cpu::table_of<cpu::Draws>(set));
    expect_draws_near<double>(cpu::table_of<cpu::Draws>(set));
  }
}

// An element depends on its place in the draw, not on how many are drawn, or into which dtype.
TEST(CpuRandom, ElementsDependOnTheirPlaceAlone) {
  const PhiloxState state{rng()(), 5};
  const std::tuple<Distribution, double, double> cases[] = {
      {Distribution::uniform, -1, 2},    {Distribution::normal, 1, 2},
      {Distribution::log_normal, 0, 1},  {Distribution::exponential, 2, 0},
      {Distribution::cauchy, 0, 1},      {Distribution::geometric, 0.1, 0},
      {Distribution::bernoulli, 0.3, 0}, {Distribution::randint, -3, 90}};
  for (const auto& [kind, a, b] : cases)
    for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble, kChar, kInt, kLong, kBool}) {
      const bool counts = kind == Distribution::geometric || kind == Distribution::bernoulli ||
                          kind == Distribution::randint;
      if (!isFloatingType(dtype) && !counts) continue;
      const Tensor all = draw(kind, a, b, state, 9001, dtype);
      for (const int64_t n : {1, 7, 255, 256, 300, 4097})
        ASSERT_TRUE(equal(draw(kind, a, b, state, n, dtype), all.narrow(0, 0, n)))
            << static_cast<int>(kind) << " " << dtype << " " << n;
      if (kind == Distribution::uniform && computed_type(dtype) != dtype) continue;  // fewer bits
      if (isFloatingType(dtype) && dtype != kDouble) {
        ASSERT_TRUE(equal(draw(kind, a, b, state, 9001, kFloat).to(dtype), all));
      } else if (!isFloatingType(dtype)) {
        const auto whole = kind == Distribution::geometric ? kDouble : kLong;
        ASSERT_TRUE(equal(draw(kind, a, b, state, 9001, whole).to(dtype), all));
      }
    }
}

TEST(CpuRandom, ChancesOfZeroAndOneAreSure) {
  for (const Word w : {Word{0}, Word{1}, Word{~0u}, Word{1u << 31}}) {
    EXPECT_FALSE(draw::Chance(0)(w));
    EXPECT_TRUE(draw::Chance(1)(w));
    for (const double p : {0.5, 0x1p-53, 1 - 0x1p-53, 1e-300, test::real(0, 1)})
      EXPECT_EQ(draw::Chance(p)(w), w.bits * 0x1p-32 < p) << p;
  }
}

// Dropout draws the same numbers as bernoulli with one probability for all elements.
TEST(CpuRandom, DropoutLeavesOutWithItsProbability) {
  const PhiloxState state{rng()(), 5};
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble}) {
    const Tensor x = draw(Distribution::normal, 0, 1, {7, 0}, 5001, dtype), y = empty_like(x),
                 p = full_like(x, 0.25), below = empty_like(x);
    cpu_backend().random_map(RandomMap::dropout, 0.25, state, x, y);
    cpu_backend().random_map(RandomMap::bernoulli, 0, state, p, below);
    const Tensor expected = x.to(kDouble) * (1 - below.to(kDouble)) / 0.75;
    EXPECT_TRUE(allclose(y.to(kDouble), expected.to(dtype).to(kDouble), 0, 1e-2));
    EXPECT_TRUE(equal(y == 0, below == 1));
    EXPECT_TRUE(equal(below, draw(Distribution::bernoulli, 0.25, 0, state, 5001, dtype)));
    cpu_backend().random_map(RandomMap::dropout, 0.25, state, x, x);
    EXPECT_TRUE(equal(x, y));
  }
}

TEST(CpuRandom, RemaindersAreThoseOfADivision) {
  std::vector<uint64_t> divisors, numbers;
  for (int shift = 0; shift < 64; ++shift)
    for (const uint64_t next : {0, 1, 2}) {
      divisors.push_back((uint64_t{1} << shift) + next - 1);
      divisors.push_back(rng()() >> shift);
      numbers.push_back((uint64_t{1} << shift) + next - 1);
      numbers.push_back(rng()() >> shift);
    }
  divisors.push_back(~uint64_t{0}), numbers.push_back(~uint64_t{0});
  for (const uint64_t divisor : divisors) {
    if (divisor == 0) continue;
    const Remainder remainder(divisor);
    for (const uint64_t n : numbers) ASSERT_EQ(remainder(n), n % divisor) << n << " by " << divisor;
    for (uint64_t k = 1; k < 9; ++k)
      for (const uint64_t n : {k * divisor - 1, k * divisor, k * divisor + 1})
        ASSERT_EQ(remainder(n), n % divisor) << n << " by " << divisor;
  }
}

TEST(CpuRandom, UniformFillsItsInterval) {
  for (ScalarType dtype : {kFloat, kDouble}) {
    const Tensor x = draw(Distribution::uniform, 1, 3, {1, 0}, 100'000, dtype);
    double sum = 0, low = 9, high = 0;
    for (int64_t i = 0; i < x.numel(); ++i) {
      const double v = get(x, i);
      sum += v, low = std::min(low, v), high = std::max(high, v);
    }
    EXPECT_GE(low, 1);
    EXPECT_LT(high, 3);
    EXPECT_LT(low, 1.001);
    EXPECT_GT(high, 2.999);
    EXPECT_NEAR(sum / 100'000, 2, 0.01);
  }
}

TEST(CpuRandom, NormalHasItsMoments) {
  const int64_t n = 200'000;
  const Tensor x = draw(Distribution::normal, 3, 2, {2, 0}, n, kDouble);
  double sum = 0, squares = 0, within = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double z = (get(x, i) - 3) / 2;
    sum += z, squares += z * z, within += std::abs(z) < 1;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.02);
  EXPECT_NEAR(within / n, 0.6827, 0.005);
}

TEST(CpuRandom, IntegersCoverTheirRange) {
  const Tensor x = draw(Distribution::randint, -2, 3, {3, 0}, 10'000, kLong);
  int count[5] = {};
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double v = get(x, i);
    ASSERT_TRUE(v >= -2 && v < 3);
    ++count[static_cast<int>(v) + 2];
  }
  for (int c : count) EXPECT_NEAR(c, 2000, 250);
}

TEST(CpuRandom, RefusesIntegersForRealDistributions) {
  EXPECT_THROW(draw(Distribution::uniform, 0, 1, {1, 0}, 3, kLong), TypeError);
  EXPECT_THROW(draw(Distribution::normal, 0, 1, {1, 0}, 3, kLong), TypeError);
}

}  // namespace
}  // namespace gradus::test
