// The random generator: Random123's known answers, and the streams drawn with it.
#include "gradus/tensor/math/distributions.h"
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

using Counter = std::array<uint32_t, 4>;
using Key = std::array<uint32_t, 2>;

// Philox4x32-10 with a counter of four words, written from the paper's text.
Counter reference(Counter c, Key k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * c[0], second = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(second >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(second),
         static_cast<uint32_t>(first >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(first)};
    k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85};
  }
  return c;
}

TEST(Philox, ReferenceHasTheKnownAnswersOfRandom123) {
  EXPECT_EQ(reference({0, 0, 0, 0}, {0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(reference({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(reference({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, BlocksAreThoseOfTheReference) {
  for (int i = 0; i < 1000; ++i) {
    const uint64_t seed = test::rng()(), counter = test::rng()();
    const philox::Block got = philox::block(seed, counter);
    EXPECT_EQ(
        (Counter{got.word[0], got.word[1], got.word[2], got.word[3]}),
        reference({static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0},
                  {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}));
  }
}

TEST(Philox, UnitNeverReachesOne) {
  const philox::Words least{0, 0}, greatest{~0u, ~0u};
  EXPECT_LT(philox::unit(philox::Word{~0u}), 1.0f);
  EXPECT_LT(philox::unit(greatest), 1.0);
  EXPECT_EQ(philox::unit(philox::Word{0}), 0.0f);
  // Rounding a + (b - a) u may give b, which is outside [a, b).
  const auto uniform = draw::uniform<float>(1.0f, std::nextafter(1.0f, 2.0f));
  for (int i = 0; i < 100; ++i)
    EXPECT_LT(uniform({static_cast<uint32_t>(test::rng()())}), uniform.b);
  for (const philox::Words words : {least, greatest}) {
    EXPECT_TRUE(std::isfinite(draw::standard_normal(words)));
    EXPECT_TRUE(std::isfinite(draw::standard_cauchy(words)));
    EXPECT_TRUE(std::isfinite(draw::standard_exponential(words)));
  }
  for (const uint32_t bits : {0u, 1u, 1u << 31, ~0u}) {
    EXPECT_TRUE(std::isfinite(draw::standard_cauchy(philox::Word{bits})));
    EXPECT_TRUE(std::isfinite(draw::standard_exponential(philox::Word{bits})));
    EXPECT_TRUE(std::isfinite(draw::standard_normal(philox::SharedWords{bits, bits, true})));
  }
}

TEST(Generators, ASeedRepeatsTheStream) {
  manual_seed(7);
  const std::vector<double> first = to_vector(rand({11})), second = to_vector(rand({11}));
  EXPECT_NE(first, second);
  manual_seed(7);
  EXPECT_EQ(to_vector(rand({11})), first);
  EXPECT_EQ(to_vector(rand({11})), second);
  manual_seed(8);
  EXPECT_NE(to_vector(rand({11})), first);
  EXPECT_EQ(default_generator(kCPU).current_seed(), 8u);
}

TEST(Generators, SuccessiveDrawsDoNotOverlap) {
  manual_seed(3);
  const std::vector<double> a = to_vector(rand({3}, kDouble)), b = to_vector(rand({3}, kDouble));
  for (double x : a) EXPECT_EQ(std::count(b.begin(), b.end(), x), 0);
}

// Sums of n draws lie within six standard deviations: a false alarm in 500 million runs.
TEST(Generators, DrawsHaveTheirMoments) {
  manual_seed(test::rng()());
  constexpr int64_t n = 200000;
  const double deviations = 6 / std::sqrt(static_cast<double>(n));
  const auto moments = [](const Tensor& x) {
    const Tensor d = x.to(kDouble);
    const double mean = d.mean().item<double>();
    return std::pair(mean, (d - mean).square().mean().item<double>());
  };
  const auto [uniform_mean, uniform_variance] = moments(rand({n}));
  EXPECT_NEAR(uniform_mean, 0.5, deviations * std::sqrt(1.0 / 12));
  EXPECT_NEAR(uniform_variance, 1.0 / 12, deviations * std::sqrt(1.0 / 180));
  const auto [normal_mean, normal_variance] = moments(randn({n}));
  EXPECT_NEAR(normal_mean, 0, deviations);
  EXPECT_NEAR(normal_variance, 1, deviations * std::sqrt(2.0));
  const auto [integer_mean, integer_variance] = moments(randint(-3, 8, {n}));
  EXPECT_NEAR(integer_mean, 2, deviations * std::sqrt(10.0));
  EXPECT_NEAR(integer_variance, 10, deviations * std::sqrt(78.0));
}

TEST(Generators, RandpermIsAPermutation) {
  for (int64_t n : {0, 1, 2, 100}) {
    std::vector<double> order = to_vector(randperm(n));
    std::sort(order.begin(), order.end());
    for (int64_t i = 0; i < n; ++i)
      EXPECT_EQ(order[static_cast<size_t>(i)], static_cast<double>(i));
  }
  // Each element is first equally often: 4000 draws, a chi-square of 3 degrees below 40.
  double counts[4] = {};
  for (int i = 0; i < 4000; ++i) ++counts[randperm(4)[0].item<int64_t>()];
  double chi_square = 0;
  for (double count : counts) chi_square += (count - 1000) * (count - 1000) / 1000;
  EXPECT_LT(chi_square, 40);
}

}  // namespace
}  // namespace gradus
