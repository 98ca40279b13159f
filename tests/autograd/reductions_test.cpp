// Reductions and products beyond the samples of tests/conformance/ops: accuracy, gradients at
// kinks, names of nodes, and what is not implemented.
#include "gradus/gradus.h"
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

TEST(Variance, IsAccurateWhereTheMeanIsLarge) {
  manual_seed(1);
  for (const double offset : {0.0, 1e4, 1e6}) {
    // Of numbers that float32 holds.
    const Tensor x = (randn({100000}, kDouble) + offset).to(kFloat);
    const double exact = x.to(kDouble).var().item<double>();
    EXPECT_NEAR(x.var().item<double>(), exact, 2e-6 * exact) << "offset " << offset;
    EXPECT_NEAR(x.view({100, 1000}).std(OptionalIntArrayRef(0)).to(kDouble).mean().item<double>(),
                x.view({100, 1000}).to(kDouble).std(OptionalIntArrayRef(0)).mean().item<double>(),
                2e-6)
        << "offset " << offset;
  }
}

TEST(Variance, OfEqualNumbersIsZeroHoweverTheirMeanIsRounded) {
  for (const double value : {0.1, 1e8 + 0.3, -7e12})
    expect_values(full({1001}, value, kFloat).std(), {0});
}

TEST(Variance, OverloadsMeanWhatTheyMeanInLibtorch) {
  const Tensor x = tensor({{1.0, 2.0, 4.0}, {2.0, 2.0, 5.0}}, kDouble);
  expect_values(x.var(false), {x.var(true).item<double>() * 5 / 6});
  EXPECT_EQ(x.var(1).sizes(), (Dims{2}));
  EXPECT_EQ(x.std(1).sizes(), (Dims{2}));
  EXPECT_EQ(x.var(1, true).sizes(), (Dims{2}));
  EXPECT_EQ(x.var({0, 1}, std::optional<Scalar>(2), true).sizes(), (Dims{1, 1}));
  EXPECT_EQ(x.var(std::nullopt, std::optional<int64_t>(2)).dim(), 0);
}

TEST(StandardDeviation, HasNoGradientWhereItIsZero) {
  const Tensor x = ones({4}, requires_grad());
  x.std().backward();
  expect_values(x.grad(), {0, 0, 0, 0});
}

TEST(Nansum, LeavesOutNanAlone) {
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    expect_values(tensor({1.0, nan, 2.0, nan}, kDouble).to(dtype).nansum(), {3});
    expect_values(tensor({1.0, nan, inf}, kDouble).to(dtype).nansum(), {inf});
    expect_values(tensor({-inf, nan, 2.0}, kDouble).to(dtype).nansum(), {-inf});
    EXPECT_TRUE(std::isnan(tensor({-inf, inf}, kDouble).to(dtype).nansum().item<double>()));
    EXPECT_EQ(tensor({nan}, kDouble).to(dtype).nansum().dtype(), dtype);
  }
}

TEST(Norm, HasNoGradientAtZero) {
  for (const double p : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, double{INFINITY}}) {
    const Tensor x = zeros({3}, requires_grad());
    x.norm(p).backward();
    const Tensor grad = x.grad().defined() ? x.grad() : zeros({3});
    expect_values(grad, {0, 0, 0});
  }
}

TEST(Norm, GradientIsZeroAtZerosOfAVectorThatIsNot) {
  for (const double p : {0.5, 1.5, 2.0, 3.0}) {
    const Tensor x = tensor({0.0, 2.0, 0.0}, TensorOptions(kDouble).requires_grad(true));
    x.norm(p).backward();
    expect_values(x.grad(), {0, 1, 0});
  }
}

TEST(Sums, OfHalvesAreRoundedOnce) {
  // A sum of ones in float16 would stop at 2048.
  const Tensor x = ones({5000}, kHalf);
  expect_values(x.sum(), {5000});
  expect_values(x.prod(), {1});
  expect_values(logsumexp(zeros({4096}, kHalf), 0), {std::log(4096.0)}, 1e-3);
  expect_values(norm(x), {std::sqrt(5000.0)}, 1e-3);
}

TEST(Extremes, OfEqualElementsShareTheGradient) {
  const Tensor x = tensor({2.0, 1.0, 2.0}, requires_grad());
  x.max().backward();
  expect_values(x.grad(), {0.5, 0, 0.5});
  const Tensor y = tensor({2.0, 1.0, 2.0}, requires_grad());
  std::get<0>(y.max(0)).backward();
  expect_values(y.grad(), {1, 0, 0});
  const Tensor z = tensor({3.0, 3.0, 1.0}, requires_grad());
  z.median().backward();
  expect_values(z.grad(), {0.5, 0.5, 0});
}

// As in PyTorch: that of max, min and median goes to the NaNs, and so does that of the norm, where
// sign() makes it 0; that of amax and amin is NaN everywhere.
TEST(Extremes, OfNaNsGiveThemTheGradient) {
  const double nan = std::nan("");
  const auto gradient_of = [&](auto f) {
    const Tensor x = tensor({1.0, nan, 3.0, nan}, requires_grad());
    f(x).backward();
    return x.grad();
  };
  expect_values(gradient_of([](const Tensor& x) { return x.max(); }), {0, 0.5, 0, 0.5});
  expect_values(gradient_of([](const Tensor& x) { return x.min(); }), {0, 0.5, 0, 0.5});
  expect_values(gradient_of([](const Tensor& x) { return x.median(); }), {0, 0.5, 0, 0.5});
  expect_values(gradient_of([](const Tensor& x) { return x.norm(HUGE_VAL); }), {0, 0, 0, 0});
  expect_values(gradient_of([](const Tensor& x) { return x.amax(); }), {nan, nan, nan, nan});
}

TEST(Quantiles, OfHalvesCountTheirElementsInFloats) {
  const Tensor x = arange(0, 200'001, kFloat).div(1000).to(kHalf);
  EXPECT_EQ(x.quantile(0.5).scalar_type(), kHalf);
  EXPECT_EQ(x.quantile(0.5).item<float>(), 100);
  const Tensor few = arange(0, 301, kFloat).to(kBFloat16);
  EXPECT_EQ(few.quantile(tensor({0.1}).to(kBFloat16)).item<float>(), 30);
  EXPECT_EQ(few.nanquantile(0.9).item<float>(), 270);
}

TEST(Trapezoids, OfSmallIntegersWrapAroundAlike) {
  const Tensor y = tensor({200, 200}).to(kByte);
  EXPECT_EQ(trapezoid(y, Scalar(1)).item<float>(), 72);  // 200 + 200 is 144
  EXPECT_EQ(cumulative_trapezoid(y, Scalar(1)).item<float>(), 72);
}

TEST(Products, IgnoreSelfWhereBetaIsZero) {
  const Tensor nan = full({2, 2}, NAN), x = ones({2, 2});
  expect_values(addmm(nan, x, x, 0), {2, 2, 2, 2});
  Tensor y = nan.clone();
  expect_values(y.addmm_(x, x, 0, 3), {6, 6, 6, 6});
}

TEST(Products, EinsumAgreesWithLoops) {
  for (int round = 0; round < 20; ++round) {
    const int64_t b = test::pick(1, 3), i = test::pick(1, 4), j = test::pick(1, 4),
                  k = test::pick(1, 4);
    const Tensor x = test::random_tensor({b, j, i}, kDouble),
                 y = test::random_tensor({k, b, j}, kDouble);
    const Tensor got = einsum("bji, kbj -> kib", {x, y}).contiguous();
    ASSERT_EQ(got.sizes(), (Dims{k, i, b}));
    for (int64_t at = 0; at < got.numel(); ++at) {
      const int64_t bb = at % b, ii = at / b % i, kk = at / b / i;
      double sum = 0;
      for (int64_t jj = 0; jj < j; ++jj)
        sum += test::get(x, (bb * j + jj) * i + ii) * test::get(y, (kk * b + bb) * j + jj);
      EXPECT_NEAR(test::get(got, at), sum, 1e-12);
    }
  }
}

TEST(Reductions, RecordNodesWithPyTorchsNames) {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 5.0}}, requires_grad());
  const std::pair<Tensor, const char*> expected[] = {
      {x.sum(), "SumBackward0"},
      {x.sum(0), "SumBackward1"},
      {x.nansum(), "NansumBackward0"},
      {x.prod(), "ProdBackward0"},
      {x.prod(0), "ProdBackward1"},
      {x.mean(), "MeanBackward0"},
      {x.amax(0), "AmaxBackward0"},
      {x.max(), "MaxBackward1"},
      {std::get<0>(x.max(0)), "MaxBackward0"},
      {x.var(), "VarBackward0"},
      {x.std(), "StdBackward0"},
      {x.norm(), "NormBackward0"},
      {x.norm(2, 0), "NormBackward1"},
      {linalg_vector_norm(x), "LinalgVectorNormBackward0"},
      {x.logsumexp(0), "LogsumexpBackward0"},
      {x.softmax(0), "SoftmaxBackward0"},
      {x.cumsum(0), "CumsumBackward0"},
      {x.cumprod(0), "CumprodBackward0"},
      {x.logcumsumexp(0), "LogcumsumexpBackward0"},
      {std::get<0>(x.cummax(0)), "CummaxBackward0"},
      {std::get<0>(x.sort()), "SortBackward0"},
      {std::get<0>(x.topk(1)), "TopkBackward0"},
      {std::get<0>(x.kthvalue(1)), "KthvalueBackward0"},
      {x.median(), "MedianBackward0"},
      {std::get<0>(x.median(0)), "MedianBackward1"},
      {std::get<0>(x.mode()), "ModeBackward0"},
      {x.mm(x), "MmBackward0"},
      {x.mv(x[0]), "MvBackward0"},
      {x[0].dot(x[1]), "DotBackward0"},
      {x.addmm(x, x), "AddmmBackward0"},
      {x[0].addmv(x, x[0]), "AddmvBackward0"},
      {baddbmm(x, x.unsqueeze(0), x.unsqueeze(0)), "BaddbmmBackward0"},
      {x.unsqueeze(0).bmm(x.unsqueeze(0)), "BmmBackward0"},
  };
  for (const auto& [y, name] : expected) EXPECT_EQ(y.grad_fn()->name(), name);
}

TEST(CrossEntropy, LossesOfRowsMayChangeInPlace) {
  const Tensor x = zeros({2, 4}, requires_grad()), target = tensor({1, 3});
  const auto losses = [&] {
    return nn::functional::cross_entropy(
        x, target, nn::functional::CrossEntropyFuncOptions().reduction(kNone));
  };
  const Tensor recorded = losses();
  recorded.mul_(2);
  recorded.sum().backward();
  expect_values(x.grad(), {0.5, -1.5, 0.5, 0.5, 0.5, 0.5, 0.5, -1.5});
  const NoGradGuard guard;
  EXPECT_FALSE(losses().is_view());
}

TEST(Extremes, OfOnePassAreTensorsOfTheirOwn) {
  const Tensor x = tensor({3.0, -1.0, 2.0});
  for (const bool keepdim : {false, true}) {
    const auto [least, greatest] = aminmax(x, std::nullopt, keepdim);
    EXPECT_FALSE(least.is_view() || greatest.is_view());
    least.add_(1);
    EXPECT_EQ(greatest._version(), 0U);
    expect_values(least, {0}, 0);
    expect_values(greatest, {3}, 0);
  }
}

TEST(Renorm, SquaresOfHalvesDoNotOverflow) {
  const Tensor y = renorm(full({2, 4}, 40000, kHalf), 2, 0, 100);
  EXPECT_EQ(y.scalar_type(), kHalf);
  expect_values(y, std::vector<double>(8, 50), 1e-3);
}

TEST(Prod, GradientOfHalvesDoesNotOverflowOnTheWay) {
  const Tensor x = tensor({300.0, 300.0, 0.001, 0.001}).to(kHalf).requires_grad_();
  x.prod().backward();
  EXPECT_EQ(x.grad().scalar_type(), kHalf);
  expect_values(x.grad(), {3e-4, 3e-4, 90, 90}, 2e-3);
}

TEST(Median, OfNothingIsTheLeastNumberOfAnIntegerType) {
  EXPECT_EQ(empty({0}, kInt).median().item<int64_t>(), INT32_MIN);
  EXPECT_EQ(empty({0}, kShort).median().item<int64_t>(), INT16_MIN);
  EXPECT_EQ(empty({0}, kByte).nanmedian().item<int64_t>(), 0);
  EXPECT_EQ(empty({0}, kLong).median().item<int64_t>(), INT64_MIN);
  EXPECT_TRUE(std::isnan(empty({0}).median().item<double>()));
}

TEST(Covariance, NamesWeightsThatDoNotFit) {
  const Tensor x = tensor({1.0, 2.0, 4.0});
  expect_error<ValueError>([&] { x.cov(1, std::nullopt, zeros({3})); },
                           "weights sum to zero, can't be normalized");
  expect_error<ValueError>([&] { x.cov(1, zeros({3}, kLong)); },
                           "weights sum to zero, can't be normalized");
  expect_error<ValueError>(
      [&] {
        x.cov(1, tensor({1, -2, 1}));
      },
      "cov: a weight is below 0: fweights has -2, expected 0 or more");
}

}  // namespace
}  // namespace gradus
