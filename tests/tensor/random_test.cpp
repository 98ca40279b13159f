// Distributions: where their numbers lie, how often, and which ones a seed gives.
#include "tests/random.h"

#include <map>
#include <set>

#include "tests/support.h"

namespace gradus {
namespace {

constexpr int64_t kDraws = 100'000;

// Where the mean of `deviation`-wide draws lies, but for one in 500 million.
double within(double deviation) { return 6 * deviation / std::sqrt(static_cast<double>(kDraws)); }
double mean_of(const Tensor& x) { return x.to(kDouble).mean().item<double>(); }
double share(const Tensor& condition) { return mean_of(condition); }

class Distributions : public ::testing::Test {
 protected:
  void SetUp() override { manual_seed(test::rng()()); }
};

TEST_F(Distributions, UniformAndNormalInPlaceInEveryFloatingDtype) {
  for (ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble}) {
    const Tensor x = empty({kDraws}, dtype).uniform_(-1, 3);
    EXPECT_GE(x.amin().item<double>(), -1);
    EXPECT_LE(x.amax().item<double>(), 3);
    EXPECT_NEAR(mean_of(x), 1, within(4 / std::sqrt(12.0)) + 0.01);
    EXPECT_NEAR(mean_of(empty({kDraws}, dtype).normal_(2, 0.5)), 2, within(0.5) + 0.01);
  }
  EXPECT_THROW(zeros({2}, kLong).uniform_(), TypeError);
  EXPECT_THROW(zeros({2}, kLong).normal_(), TypeError);
  expect_error<ValueError>([] { zeros({2}).normal_(0, -1); },
                           "normal_: normal expects std >= 0.0, but found std -1");
}

// As many numbers as the type has places for below 1, each as often, and never the upper end.
TEST_F(Distributions, UniformNumbersOf16BitsStayInTheirInterval) {
  const std::pair<ScalarType, int64_t> counts[] = {{kHalf, 1 << 11}, {kBFloat16, 1 << 8}};
  for (const auto& [dtype, count] : counts) {
    const Tensor x = rand({400 * count}, dtype), places = x.to(kDouble) * count;
    EXPECT_LT(x.amax().item<double>(), 1);
    EXPECT_TRUE(equal(places, places.floor()));
    const Tensor drawn = places.to(kLong).bincount({}, count);
    EXPECT_EQ(drawn.size(0), count);
    EXPECT_GT(drawn.amin().item<int64_t>(), 250);  // of 400, whose deviation is 20
    EXPECT_LT(drawn.amax().item<int64_t>(), 550);
    for (const auto& [from, to] :
         {std::pair(2.0, 3.0), {-3, -2}, {-1, 0}, {0.1, 0.3}, {7, 7.0001}}) {
      const Tensor y = empty({kDraws}, dtype).uniform_(from, to);
      const double least = full({}, from, dtype).item<double>();
      EXPECT_GE(y.amin().item<double>(), least);
      EXPECT_LT(y.amax().item<double>(), std::max(to, least + 1e-3)) << from;
      EXPECT_NEAR(mean_of(y), (from + to) / 2, within(1));
    }
  }
}

// Where the last integers would be rounded to one outside.
TEST_F(Distributions, IntegersInFewDigitsStayInTheirRange) {
  const auto expect_range = [](ScalarType dtype, int64_t low, int64_t high, int64_t first,
                               int64_t last) {
    const Tensor x = randint(low, high, {20'000}, dtype);
    EXPECT_EQ(x.amin().item<int64_t>(), first) << dtype << high;
    EXPECT_EQ(x.amax().item<int64_t>(), last) << dtype << high;
  };
  expect_range(kHalf, 0, 2048, 0, 2047);
  expect_range(kHalf, 2900, 3000, 2900, 2998);
  expect_range(kHalf, -4099, -4000, -4096, -4002);
  expect_range(kBFloat16, 0, 300, 0, 298);
  expect_range(kBFloat16, -300, 5, -300, 4);
  expect_range(kFloat, 19'999'900, 20'000'000, 19'999'900, 19'999'998);
  expect_range(kHalf, 2999, 3000, 3000, 3000);  // there is no half between
  expect_range(kDouble, 0, 7, 0, 6);
}

// Each by a probability that its formula gives.
TEST_F(Distributions, HaveTheProbabilitiesOfTheirFormulas) {
  const auto expect_share = [&](const Tensor& condition, double p) {
    EXPECT_NEAR(share(condition), p, within(std::sqrt(p * (1 - p))));
  };
  Tensor y = empty({kDraws});
  expect_share(y.exponential_(2) < 0.5, 1 - std::exp(-1.0));
  expect_share(y >= 0, 1);
  expect_share(y.cauchy_(1, 2) < 3, 0.75);
  expect_share(y < 1, 0.5);
  expect_share(y.log_normal_(0.5, 2) < std::exp(0.5), 0.5);
  expect_share(y < std::exp(2.5), 0.841344746);
  expect_share(y.geometric_(0.25) == 1, 0.25);
  expect_share(y <= 3, 1 - 0.75 * 0.75 * 0.75);
  Tensor counts = empty({kDraws}, kLong);
  expect_share(counts.geometric_(0.5) == 2, 0.25);
  EXPECT_EQ(counts.amin().item<int64_t>(), 1);
  expect_share(y.bernoulli_(0.3), 0.3);
  expect_share(counts.bernoulli_(0.8), 0.8);
  EXPECT_THROW(zeros({2}).exponential_(0), ValueError);
  EXPECT_THROW(zeros({2}).cauchy_(0, 0), ValueError);
  EXPECT_THROW(zeros({2}).log_normal_(0, 0), ValueError);
  EXPECT_THROW(zeros({2}).geometric_(1), ValueError);
  EXPECT_THROW(zeros({2}, kLong).exponential_(), TypeError);
  EXPECT_THROW(zeros({2}, kBool).geometric_(0.5), TypeError);
}

TEST_F(Distributions, BernoulliFollowsItsProbabilities) {
  const Tensor p = tensor({0.0, 1.0, 0.25}, kDouble).expand({kDraws, 3});
  for (const Tensor& drawn : {bernoulli(p), zeros({kDraws, 3}, kLong).bernoulli_(p)}) {
    EXPECT_EQ(mean_of(drawn.select(1, 0)), 0);
    EXPECT_EQ(mean_of(drawn.select(1, 1)), 1);
    EXPECT_NEAR(mean_of(drawn.select(1, 2)), 0.25, within(std::sqrt(0.1875)));
  }
  EXPECT_EQ(bernoulli(ones({2}, kHalf)).dtype(), kHalf);
  EXPECT_NEAR(mean_of(bernoulli(zeros({kDraws}, kLong), 0.6)), 0.6, within(0.49));
  EXPECT_EQ(mean_of(ones({3}).bernoulli(0.0)), 0);
  expect_error<ValueError>([] { bernoulli(full({2}, 1.5)); }, "outside of 0 to 1");
  expect_error<ValueError>([] { bernoulli(full({2}, NAN)); }, "outside of 0 to 1");
  expect_error<ValueError>([] { zeros({2}).bernoulli_(-0.1); },
                           "bernoulli_ expects p to be in [0, 1], but got p=-0.1");
  expect_error<TypeError>([] { bernoulli(ones({2}, kLong)); }, "dtype int64");
}

TEST_F(Distributions, NormalTakesMeansAndDeviations) {
  const Tensor mean = tensor({0.0, 5.0}, kDouble).expand({kDraws, 2});
  const Tensor std = tensor({{1.0}, {0.0}}, kDouble).repeat({kDraws / 2, 1});
  EXPECT_NEAR(mean_of(normal(mean, 2).select(1, 1)), 5, within(2));
  EXPECT_NEAR(mean_of(normal(3, ones({kDraws}, kDouble))), 3, within(1));
  const Tensor both = normal(mean, std);
  EXPECT_EQ(both.sizes(), IntArrayRef({kDraws, 2}));
  EXPECT_EQ(both[1][1].item<double>(), 5);
  EXPECT_NEAR(mean_of((both - mean).square()), 0.5, within(1.5));
  EXPECT_EQ(normal(0, 1, {2, 3}, std::nullopt, kDouble).dtype(), kDouble);
  EXPECT_NEAR(mean_of(normal(4, 0.1, {kDraws})), 4, within(0.1));
  EXPECT_TRUE(normal(0, 1, {2}, std::nullopt, requires_grad()).requires_grad());
  expect_error<ValueError>([] { normal(0, -1, {2}); }, "std >= 0.0, but found std -1");
  expect_error<ValueError>(
      [] {
        normal(0, tensor({1.0, -1.0}));
      },
      "normal expects all elements of std >= 0.0");
  expect_error<TypeError>([] { normal(ones({2}, kLong)); }, "int64");
}

TEST_F(Distributions, RandomIntegersGoAsFarAsTheDtypeCounts) {
  const auto extremes = [](const Tensor& x) {
    return std::pair(x.amin().item<int64_t>(), x.amax().item<int64_t>());
  };
  EXPECT_EQ(extremes(zeros({20'000}, kByte).random_()), std::pair(int64_t{0}, int64_t{255}));
  EXPECT_EQ(extremes(zeros({20'000}, kChar).random_(-128, std::optional<int64_t>())),
            std::pair(int64_t{-128}, int64_t{127}));
  EXPECT_EQ(extremes(zeros({20'000}, kBFloat16).random_()), std::pair(int64_t{0}, int64_t{256}));
  EXPECT_EQ(extremes(zeros({1'000}, kInt).random_(3)), std::pair(int64_t{0}, int64_t{2}));
  EXPECT_EQ(extremes(zeros({1'000}, kFloat).random_(-2, 2)), std::pair(int64_t{-2}, int64_t{1}));
  const Tensor wide = zeros({1'000}, kLong).random_(INT64_MIN, INT64_MAX);
  EXPECT_LT(extremes(wide).first, INT64_MIN / 2);
  EXPECT_GT(extremes(wide).second, INT64_MAX / 2);
  EXPECT_GE(zeros({1'000}, kLong).random_().amin().item<int64_t>(), 0);
  EXPECT_NEAR(mean_of(zeros({kDraws}, kBool).random_()), 0.5, within(0.5));
  expect_error<ValueError>([] { zeros({1}, kChar).random_(0, 200); }, "int8 does not count");
  expect_error<ValueError>([] { zeros({1}, kByte).random_(-1, 2); }, "uint8 does not count");
  expect_error<ValueError>([] { zeros({1}).random_(3, 3); },
                           "random_ expects 'from' to be less than 'to', but got from=3 >= to=3");
}

// At the lengths where blocks end, and where a number chooses one place and not two.
TEST_F(Distributions, PermutationsHaveEveryNumberOnce) {
  for (const int64_t n : {0, 1, 2, 3, 1023, 1024, 1025, 2049, (1 << 17) - 1, (1 << 17) + 1}) {
    const Tensor drawn = randperm(n);
    EXPECT_TRUE(equal(std::get<0>(drawn.sort()), arange(n))) << n;
    EXPECT_TRUE(n < 1000 || share(drawn == arange(n)) < 0.05) << n;
  }
}

TEST_F(Distributions, PermutationsAreEquallyLikely) {
  constexpr int kTrials = 24'000, kOrders = 24;
  std::map<std::vector<double>, int> counts;
  for (int i = 0; i < kTrials; ++i) ++counts[to_vector(randperm(4))];
  ASSERT_EQ(counts.size(), size_t{kOrders});
  double squares = 0;  // chi squared with 23 degrees of freedom: above 86, one in 400 million
  for (const auto& [order, count] : counts) squares += std::pow(count - 1000.0, 2) / 1000.0;
  EXPECT_LT(squares, 86);
}

// As many draws from each group of weights, and from each place in it, as they say.
TEST_F(Distributions, MultinomialOfManyWeights) {
  const Tensor weights = rand({200});
  weights.slice(0, 64, 128).zero_();
  const Tensor counts = multinomial(weights, kDraws, true).bincount({}, 200).to(kDouble);
  const Tensor shares = (weights / weights.sum()).to(kDouble);
  EXPECT_EQ(counts.slice(0, 64, 128).sum().item<double>(), 0);
  const Tensor deviations =
      (counts - shares * kDraws).abs() / (shares * kDraws).sqrt().clamp_min(1);
  EXPECT_LT(deviations.max().item<double>(), 7);
}

TEST_F(Distributions, MultinomialDrawsByWeight) {
  const Tensor weights = tensor({{0.0, 1.0, 3.0, 0.0}, {5.0, 0.0, 0.0, 5.0}}, kDouble);
  const Tensor drawn = multinomial(weights, kDraws, true);
  EXPECT_EQ(drawn.sizes(), IntArrayRef({2, kDraws}));
  EXPECT_EQ(drawn.dtype(), kLong);
  EXPECT_NEAR(share(drawn[0] == 2), 0.75, within(std::sqrt(0.1875)));
  EXPECT_EQ(share((drawn[0] == 0) + (drawn[0] == 3)), 0);
  EXPECT_NEAR(share(drawn[1] == 3), 0.5, within(0.5));
  // Without replacement: 1, 2 for sure, and 2 first in three of four draws.
  const Tensor pairs = weights[0].expand({kDraws, 4}).multinomial(2);
  EXPECT_NEAR(share(pairs.select(1, 0) == 2), 0.75, within(std::sqrt(0.1875)));
  EXPECT_EQ(share(pairs.sum(1) == 3), 1);
  EXPECT_EQ(multinomial(rand({5}), 5).sum().item<int64_t>(), 10);
  EXPECT_EQ(multinomial(rand({0, 5}), 2).sizes(), IntArrayRef({0, 2}));
  expect_error<ValueError>([&] { multinomial(weights, 3); }, "a row has 2 weights above 0");
  expect_error<ValueError>([&] { multinomial(weights, 5); }, "there are 4 weights");
  expect_error<ValueError>([&] { multinomial(weights, 0); }, "num_samples = 0");
  expect_error<ValueError>([] { multinomial(zeros({2}), 1); },
                           "invalid multinomial distribution (sum of probabilities <= 0)");
  expect_error<ValueError>(
      [] {
        multinomial(tensor({1.0, -1.0}), 1);
      },
      "either `inf`, `nan` or element < 0: element 1 of a row is -1");
  expect_error<ValueError>([] { multinomial(ones({1, 1, 1}), 1); }, "expected 1 or 2 dimensions");
  expect_error<TypeError>([] { multinomial(ones({2}, kLong), 1); }, "dtype int64");
}

TEST_F(Distributions, WriteIntoViewsAlone) {
  Tensor x = full({4, 6}, 9.0);
  x.narrow(1, 2, 2).uniform_();
  x.select(0, 1).exponential_();
  EXPECT_EQ(share(x.narrow(1, 0, 2) == 9), 0.75);
  EXPECT_EQ(share(x.narrow(1, 2, 2) < 9), 1);
}

TEST_F(Distributions, HaveNoGradient) {
  const Tensor leaf = ones({3}, requires_grad());
  Tensor x = leaf * 2;
  x.uniform_();
  x.bernoulli_(0.5);
  x.sum().backward();
  expect_values(leaf.grad(), {0, 0, 0}, 0);
  const Tensor mean = zeros({1}, requires_grad()), p = full({2}, 0.5, requires_grad());
  (normal(mean, ones({3})).sum() + bernoulli(p).sum()).backward();
  expect_values(mean.grad(), {0}, 0);
  expect_values(p.grad(), {0, 0}, 0);
  Tensor other = ones({2}, requires_grad());
  expect_error<Error>([&] { other.normal_(); }, "leaf Variable that requires grad");
  const NoGradGuard guard;
  other.normal_();
}

TEST(GeneratorObjects, HaveStreamsOfTheirOwn) {
  Generator a = detail::createCPUGenerator(5), b = make_generator<CPUGeneratorImpl>(5);
  EXPECT_EQ(a.current_seed(), 5u);
  EXPECT_EQ(a.device(), Device(kCPU));
  EXPECT_FALSE(a == b);
  EXPECT_TRUE(equal(rand({3}, a), rand({3}, b)));
  EXPECT_FALSE(equal(rand({3}, a), rand({3}, std::nullopt)));
  b = a.clone();
  EXPECT_TRUE(equal(randn({3}, a, kDouble), randn({3}, b, kDouble)));
  EXPECT_TRUE(equal(randint(9, {3}, a), randint(9, {3}, b)));
  EXPECT_TRUE(equal(randint(-2, 9, {3}, a, kInt), randint(-2, 9, {3}, b, kInt)));
  EXPECT_TRUE(equal(randperm(9, a), randperm(9, b)));
  EXPECT_TRUE(equal(normal(0, 1, {4}, a), normal(0, 1, {4}, b)));
  EXPECT_TRUE(equal(multinomial(ones({9}), 3, false, a), multinomial(ones({9}), 3, false, b)));
  EXPECT_TRUE(equal(bernoulli(full({9}, 0.5), a), bernoulli(full({9}, 0.5), b)));
  EXPECT_TRUE(equal(zeros({4}).cauchy_(0, 1, a), zeros({4}).cauchy_(0, 1, b)));
  const Tensor state = a.get_state();
  const Tensor first = rand({5}, a);
  EXPECT_FALSE(equal(rand({5}, a), first));
  a.set_state(state);
  EXPECT_TRUE(equal(rand({5}, a), first));
  const Generator copy = a;  // the same stream
  EXPECT_TRUE(copy == a);
  EXPECT_FALSE(equal(rand({5}, copy), rand({5}, a)));
  {
    const std::lock_guard lock(a.mutex());
    a.set_current_seed(8);
  }
  EXPECT_EQ(copy.current_seed(), 8u);
  EXPECT_NE(a.seed(), 8u);
}

TEST(GeneratorObjects, SplitIntoOthersByTheirState) {
  Generator a = detail::createCPUGenerator(5), b = a.clone();
  const auto first = a.split(3), same = b.split(3), next = a.split(3);
  ASSERT_EQ(first.size(), 3u);
  std::vector<uint64_t> seeds;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(first[i].device(), a.device());
    EXPECT_TRUE(equal(rand({5}, first[i]), rand({5}, same[i])));
    for (const Generator& each : {first[i], next[i]}) seeds.push_back(each.current_seed());
  }
  EXPECT_TRUE(equal(rand({5}, a), [&] {
    b.split(3);
    return rand({5}, b);
  }()));
  std::ranges::sort(seeds);
  EXPECT_EQ(std::ranges::adjacent_find(seeds), seeds.end());  // all differ
  EXPECT_EQ(a.split().size(), 2u);
  EXPECT_TRUE(a.split(0).empty());
  // What one draws says nothing about the other.
  auto pair = a.split();
  const Tensor x = randn({20000}, pair[0], kDouble), y = randn({20000}, pair[1], kDouble);
  EXPECT_LT(std::abs((x * y).mean().item<double>()), 5 / std::sqrt(20000.));
  expect_error<ValueError>([&] { a.split(-1); }, "Generator::split: num is -1");
  EXPECT_EQ(make_generator<CUDAGeneratorImpl>(0).split()[1].device(), Device(kCUDA, 0));
}

TEST(GeneratorObjects, RefuseWhatDoesNotFit) {
  const Generator none;
  EXPECT_FALSE(none.defined());
  expect_error<Error>([&] { none.current_seed(); }, "an undefined Generator was used");
  EXPECT_EQ(rand({2}, none).numel(), 2);
  const Generator gpu = make_generator<CUDAGeneratorImpl>(0);
  expect_error<Error>([&] { rand({2}, gpu); }, "the generator is of cuda:0");
  Generator cpu = detail::createCPUGenerator();
  EXPECT_EQ(cpu.current_seed(), default_rng_seed_val);
  expect_error<ValueError>([&] { cpu.set_state(zeros({3}, kByte)); }, "expected [16]");
  expect_error<TypeError>([&] { cpu.set_state(zeros({16})); }, "expected uint8 on the CPU");
}

TEST(Random, LikeATensorKeepsItsOrderInMemory) {
  const Tensor x = empty({4, 3, 2}).permute({2, 0, 1}), whole = x.to(kLong);
  for (const Tensor& y : {rand_like(x), randn_like(x), randint_like(whole, 9),
                          rand_like(whole, TensorOptions(kDouble)), randint_like(x, 3, 9)}) {
    EXPECT_EQ(y.sizes(), x.sizes());
    EXPECT_EQ(y.strides(), x.strides());
    EXPECT_GT(y.to(kDouble).abs().sum().item<double>(), 0);
  }
  EXPECT_TRUE(rand_like(x, {}, MemoryFormat::Contiguous).is_contiguous());
  EXPECT_TRUE(rand_like(x.narrow(0, 0, 1).expand({5, 4, 3})).is_contiguous());
  EXPECT_TRUE(rand_like(x, TensorOptions().requires_grad(true)).requires_grad());
  EXPECT_TRUE(rand_like(x, TensorOptions().requires_grad(true)).is_leaf());
}

TEST(GeneratorObjects, TheDefaultOneDrawsWhatHasNoOther) {
  manual_seed(11);
  const Tensor first = rand({4});
  default_generator(kCPU).set_current_seed(11);
  EXPECT_TRUE(equal(rand_like(first), first));
  EXPECT_TRUE(detail::getDefaultCPUGenerator() == default_generator(kCPU));
  const Tensor like = randint_like(zeros({50}, kByte), 5, 8);
  EXPECT_EQ(like.dtype(), kByte);
  EXPECT_EQ(like.amin().item<int>(), 5);
  EXPECT_EQ(like.amax().item<int>(), 7);
}

// kCUDA is the current device wherever a device is given.
TEST(GeneratorObjects, TheDefaultOneIsThatOfItsDevice) {
  expect_error<ValueError>([] { default_generator(kMeta); }, "meta has no generator");
  EXPECT_EQ(default_generator(kCPU).device(), Device(kCPU));
  if (!cuda::is_available()) {
    EXPECT_THROW(default_generator(kCUDA), Error);
    EXPECT_THROW(default_generator(Device(kCUDA, 0)), Error);
    return;
  }
  EXPECT_THROW(default_generator(Device(kCUDA, 50)), Error);
  for (int64_t i = 0; i < cuda::device_count(); ++i) {
    const cuda::CUDAGuard guard(static_cast<DeviceIndex>(i));
    Generator current = default_generator(kCUDA);
    EXPECT_TRUE(current == default_generator(Device(kCUDA, static_cast<DeviceIndex>(i))));
    EXPECT_FALSE(current == default_generator(kCPU));
    current.set_current_seed(5);
    const Tensor state = current.get_state(), first = rand({5}, kCUDA);
    current.set_state(state);
    EXPECT_TRUE(first.equal(rand({5}, kCUDA)));
  }
}

}  // namespace
}  // namespace gradus
