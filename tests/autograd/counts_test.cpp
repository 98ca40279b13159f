// Draws of poisson and binomial against the probabilities of their counts.
#include <cmath>
#include <map>

#include "gradus/gradus.h"
#include "tests/support.h"

namespace gradus {
namespace {

constexpr int64_t kDraws = 40000;

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// Pearson's statistic of the counts, of which rare ones are taken together, against f(count), the
// logarithm of its probability: its mean is the number of groups, less one.
template <class F>
void expect_frequencies(const Tensor& draws, F f) {
  std::map<double, double> seen;
  for (const double count : to_vector(draws)) ++seen[count];
  double statistic = 0, groups = 0, expected = 0, found = 0, left = kDraws, left_found = kDraws;
  for (double count = 0; count <= seen.rbegin()->first; ++count) {
    expected += kDraws * std::exp(f(count)), found += seen[count];
    if (expected < 50) continue;
    statistic += (found - expected) * (found - expected) / expected;
    ++groups, left -= expected, left_found -= found;
    expected = found = 0;
  }
  // Counts beyond are rare: few were drawn.
  EXPECT_NEAR(left, left_found, 5 * std::sqrt(std::max(left, 1.0)) + 5);
  EXPECT_LT(statistic, groups + 5 * std::sqrt(2 * groups));
}

TEST(Counts, OfPoissonHaveTheirProbabilities) {
  manual_seed(1);
  for (const double rate : {0.3, 4.0, 9.5, 10.0, 37.5, 900.0}) {
    SCOPED_TRACE(rate);
    expect_frequencies(poisson(full({kDraws}, rate, kDouble)),
                       [rate](double k) { return k * std::log(rate) - rate - std::lgamma(k + 1); });
  }
}

TEST(Counts, OfBinomialHaveTheirProbabilities) {
  manual_seed(2);
  const std::pair<double, double> cases[] = {{1, 0.3},    {5, 0.9},    {60, 0.05},
                                             {40, 0.25},  {100, 0.5},  {100, 0.85},
                                             {2000, 0.3}, {1e6, 1e-5}, {1e6, 4e-5}};
  for (const auto& [n, p] : cases) {
    SCOPED_TRACE(std::to_string(n) + " " + std::to_string(p));
    expect_frequencies(
        binomial(full({kDraws}, n, kDouble), full({1}, p, kDouble)), [n = n, p = p](double k) {
          return k > n ? -HUGE_VAL : log_choose(n, k) + k * std::log(p) + (n - k) * std::log1p(-p);
        });
  }
}

TEST(Counts, AreThoseOfTheSeed) {
  const Tensor rate = linspace(0, 50, 100);
  Generator generator = default_generator(kCPU).clone();
  generator.set_current_seed(7);
  const Tensor x = poisson(rate, generator), y = poisson(rate, generator);
  generator.set_current_seed(7);
  EXPECT_TRUE(poisson(rate, generator).equal(x));
  EXPECT_FALSE(x.equal(y));
  // The draw of an element depends only on its place and its rate.
  generator.set_current_seed(7);
  const Tensor other = cat({rate.narrow(0, 0, 50), rate.narrow(0, 0, 50)});
  EXPECT_TRUE(poisson(other, generator).narrow(0, 0, 50).equal(x.narrow(0, 0, 50)));
}

TEST(Counts, OfManyBeginWithThoseOfFewer) {
  Generator generator = default_generator(kCPU).clone();
  for (const double rate : {0.7, 6.0, 30.0}) {
    generator.set_current_seed(7);
    const Tensor many = poisson(full({3000}, rate), generator);
    generator.set_current_seed(7);
    EXPECT_TRUE(poisson(full({1500}, rate), generator).equal(many.narrow(0, 0, 1500)));
    EXPECT_FALSE(many.narrow(0, 1024, 1024).equal(many.narrow(0, 0, 1024)));
  }
}

TEST(Counts, OnAGpuAreThoseOnTheCpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const Tensor rate = linspace(0, 50, 100), chance = linspace(0, 1, 100);
  for (const auto& draw :
       {+[](const Tensor&a, const Tensor&) { return poisson(a); },
        +[](const Tensor&a, const Tensor&b) { return binomial(a.round(), b); }}) {
    manual_seed(5);
    const Tensor here = draw(rate, chance);
    manual_seed(5);
    const Tensor there = draw(rate.to(kCUDA), chance.to(kCUDA));
    EXPECT_TRUE(there.is_cuda() && there.cpu().equal(here));
  }
}

TEST(Counts, RefuseInvalidRates) {
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble})
    for (const double rate : {-1.0, std::nan(""), HUGE_VAL}) {
      const Tensor rates = tensor({0.0, rate, 1.0}).to(dtype);
      EXPECT_THROW(poisson(rates), Error) << rate;
      // A GPU reports it at a later wait.
      if (!cuda::is_available()) continue;
      EXPECT_THROW(poisson(rates.to(kCUDA)).cpu(), ValueError) << rate;
    }
}

TEST(Counts, HaveTheDtypeOfTheirRates) {
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat}) {
    const Tensor rate = linspace(0, 40, 500).to(dtype);
    manual_seed(9);
    const Tensor counts = poisson(rate);
    EXPECT_EQ(counts.dtype(), dtype);
    manual_seed(9);
    EXPECT_TRUE(equal(poisson(rate.to(kDouble)).to(dtype), counts));
  }
}

TEST(Counts, OfExtremeParameters) {
  expect_values(poisson(tensor({0.0})), {0}, 0);
  EXPECT_NEAR(poisson(tensor({1e12}, kDouble)).item<double>(), 1e12, 1e7);
  EXPECT_THROW(poisson(tensor({HUGE_VAL})), Error);
  EXPECT_THROW(poisson(tensor({NAN})), Error);
  expect_values(binomial(tensor({3.0, 3.0, -1.0, 0.0}), tensor({0.0, 1.0, 0.5, 0.5})), {0, 3, 0, 0},
                0);
  EXPECT_TRUE(binomial(tensor({2.0}), tensor({NAN})).isnan().item<bool>());
  EXPECT_EQ(binomial(ones({3, 1}), ones({4})).sizes(), IntArrayRef({3, 4}));
}

TEST(Counts, HaveGradientsOfZero) {
  const Tensor rate = full({3}, 2.0).requires_grad_(), chance = full({1}, 0.5).requires_grad_();
  (poisson(rate).sum() + binomial(full({3}, 4.0), chance).sum()).backward();
  expect_values(rate.grad(), {0, 0, 0}, 0);
  expect_values(chance.grad(), {0}, 0);
}

}  // namespace
}  // namespace gradus
