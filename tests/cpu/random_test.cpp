#include <gtest/gtest.h>

#include <cmath>

#include "gradus/cpu/draws.h"
#include "gradus/tensor/philox.h"
#include "tests/random.h"

namespace gradus::test {
namespace {

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
    const uint64_t bits = philox::words(state.seed, state.offset, static_cast<uint64_t>(i));
    const double unit = static_cast<double>(bits >> 40) / (1 << 24);
    EXPECT_NEAR(get(x, i), -2 + 7 * unit, 1e-6);
  }
  for (const int64_t n : {1, 2, 3, 255, 256, 257, 9999}) {
    const Tensor all = draw(Distribution::randint, 0, 1 << 30, state, n, kLong);
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(get(all, i),
                static_cast<double>(philox::randint(
                    philox::words(state.seed, state.offset, static_cast<uint64_t>(i)), 0, 1 << 30)))
          << i << " of " << n;
  }
  // A draw that starts later continues the stream.
  const Tensor later = draw(Distribution::uniform, -2, 5, {state.seed, state.offset + 50}, 100);
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(get(later, i), get(x, i + 100));
}

TEST(CpuRandom, EveryInstructionSetDrawsTheSame) {
  using cpu::kPiece;
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    const cpu::Draws &draws = cpu::draws_of(set),
                     &baseline = cpu::draws_of(cpu::InstructionSet::baseline);
    for (const uint64_t counter : {uint64_t{0}, rng()(), (uint64_t{1} << 32) - 37, ~uint64_t{99}}) {
      const uint64_t seed = rng()();
      uint64_t bits[kPiece];
      draws.bits(seed, counter, bits);
      for (uint64_t i = 0; i < kPiece; ++i)
        ASSERT_EQ(bits[i], philox::words(seed, counter, i)) << i;
      double radius[kPiece], angle[kPiece], out[kPiece], expected[kPiece];
      draws.polar(kPiece - 3, bits, radius, angle);
      for (int64_t i = 0; i < kPiece - 3; ++i) {
        ASSERT_EQ(radius[i], philox::radius_place(bits[i]));
        ASSERT_EQ(angle[i], philox::angle(bits[i]));
        radius[i] = std::log(radius[i]), angle[i] = std::cos(angle[i]);
      }
      draws.project(kPiece - 3, radius, angle, 0.3, 1.7, out);
      baseline.project(kPiece - 3, radius, angle, 0.3, 1.7, expected);
      for (int64_t i = 0; i < kPiece - 3; ++i) {
        ASSERT_EQ(out[i], expected[i]);
        ASSERT_NEAR(out[i], philox::normal(bits[i], 0.3, 1.7), 1e-14);
      }
    }
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
    const cpu::Remainder remainder(divisor);
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
