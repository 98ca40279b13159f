// Dropout: how many elements become 0, the values of the others, and the gradients.
#include "gradus/autograd/tools/gradcheck.h"
#include "gradus/gradus.h"
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

constexpr int64_t kElements = 10'000;

class DropoutTest : public ::testing::Test {
 protected:
  void SetUp() override { manual_seed(test::rng()()); }
};

TEST_F(DropoutTest, LeavesOutAShareAndScalesTheRest) {
  for (const ScalarType dtype : {kHalf, kFloat, kDouble})
    for (const double p : {0.1, 0.5, 0.9}) {
      const Tensor x = full({kElements}, 3, dtype), y = dropout(x, p, true);
      const Tensor kept = y != 0;
      EXPECT_NEAR(kept.to(kDouble).mean().item<double>(), 1 - p,
                  6 * std::sqrt(p * (1 - p) / kElements));
      EXPECT_TRUE(allclose(y.masked_select(kept).to(kDouble), full({1}, 3 / (1 - p), kDouble),
                           dtype == kHalf ? 1e-3 : 1e-6));
    }
}

TEST_F(DropoutTest, KeepsTheNotANumbersOfAProduct) {
  const Tensor x = full({kElements}, HUGE_VAL), y = dropout(x, 0.5, true);
  EXPECT_TRUE(y.isnan().logical_or(y.isinf()).all().item<bool>());
  EXPECT_NEAR(y.isnan().to(kDouble).mean().item<double>(), 0.5, 0.05);
  EXPECT_TRUE(dropout(x, 1, true).isnan().all().item<bool>());
  EXPECT_TRUE(dropout(full({3}, -1.0), 1, true).signbit().all().item<bool>());
}

TEST_F(DropoutTest, GradientsLeaveOutTheSame) {
  const Tensor x = rand({30, 40}, requires_grad()), weights = rand({40, 30});
  const Tensor y = dropout(x.t(), 0.3, true);
  (y * weights).sum().backward();
  EXPECT_TRUE(allclose(x.grad().t() * x.detach().t(), y.detach() * weights));
  EXPECT_EQ(y.grad_fn()->name(), "NativeDropoutBackward0");
}

TEST_F(DropoutTest, GradientsOfGradientsToo) {
  const Tensor x = rand({5, 6}, TensorOptions(kDouble).requires_grad(true));
  const PhiloxState state = default_generator(kCPU).philox();
  const auto f = [&](const Tensors& in) {
    default_generator(kCPU).set_philox(state);
    return Tensors{dropout(in[0].square(), 0.4, true)};
  };
  EXPECT_TRUE(autograd::gradcheck(f, {x}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {x}));
}

TEST_F(DropoutTest, InPlaceDrawsTheSame) {
  const Tensor x = rand({8, 9});
  const PhiloxState state = default_generator(kCPU).philox();
  const auto again = [&](auto f) {
    default_generator(kCPU).set_philox(state);
    return f();
  };
  const Tensor expected = again([&] { return dropout(x, 0.5, true); });
  EXPECT_TRUE(equal(again([&] { return x.clone().dropout_(0.5, true); }), expected));
  const Tensor columns = x.t().contiguous().t();
  EXPECT_TRUE(equal(again([&] { return columns.dropout_(0.5, true); }), expected));
  const Tensor leaf = x.clone().requires_grad_();
  Tensor y = leaf * 1;
  again([&] { return y.dropout_(0.5, true); });
  EXPECT_TRUE(equal(y, expected));
  y.sum().backward();
  EXPECT_TRUE(allclose(leaf.grad() * x, expected));
  EXPECT_TRUE(equal(x.clone().dropout_(0.5, false), x));
}

TEST_F(DropoutTest, OfChannelsLeavesOutWholeOnes) {
  const Tensor y = feature_dropout(ones({50, 20, 3, 3}), 0.5, true);
  EXPECT_TRUE(equal(y.amin({2, 3}), y.amax({2, 3})));
  EXPECT_NEAR(y.mean().item<double>(), 1, 0.2);
}

TEST_F(DropoutTest, AlphaDropoutKeepsMeanAndVariance) {
  for (const double p : {0.2, 0.7}) {
    const Tensor y = alpha_dropout(randn({100'000}, kDouble), p, true);
    EXPECT_NEAR(y.mean().item<double>(), 0, 0.03);
    EXPECT_NEAR(y.var().item<double>(), 1, 0.05);
  }
}

TEST_F(DropoutTest, DrawsNothingWhereTheChangeInPlaceIsRefused) {
  const Tensor x = ones({4, 2}, requires_grad());
  const uint64_t before = default_generator(Device(kCPU)).philox().offset;
  expect_error<Error>([&] { x.dropout_(0.5, true); }, "dropout_: a leaf Variable");
  expect_error<Error>([&] { x.feature_dropout_(0.5, true); }, "feature_dropout_: a leaf Variable");
  expect_error<Error>([&] { x.alpha_dropout_(0.5, true); }, "alpha_dropout_: a leaf Variable");
  EXPECT_EQ(default_generator(Device(kCPU)).philox().offset, before);
}

}  // namespace
}  // namespace gradus
