// The scale of a loss: its rule, what it does to gradients, and what is refused.
#include <limits>

#include "tests/support.h"

namespace gradus {
namespace {

using amp::GradScaler, amp::GradScalerOptions;
using optim::SGD;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void set_gradient(const Tensor& p, double value) {
  p.mutable_grad() = full_like(p.detach(), value);
}

TEST(GradScaler, StepsByTheGradientsOfTheLossItself) {
  const Tensor p = tensor({1.0, 2.0}, requires_grad());
  SGD sgd({p}, 0.5);
  GradScaler scaler;
  const Tensor loss = (p * 3).sum();
  expect_values(scaler.scale(loss), {9 * 65536.0});
  scaler.scale(loss).backward();
  expect_values(p.grad(), {3 * 65536.0, 3 * 65536.0});
  scaler.unscale_(sgd);
  expect_values(p.grad(), {3, 3});
  scaler.step(sgd);
  scaler.update();
  expect_values(p, {-0.5, 0.5});
  EXPECT_EQ(scaler.get_scale(), 65536);
}

TEST(GradScaler, PassesOverAStepWithOneThatIsNotFinite) {
  for (const double bad : {kInfinity, -kInfinity, std::nan("")}) {
    const Tensor p = ones({3}, requires_grad()), q = ones({70'000}, requires_grad());
    SGD sgd({p, q}, 0.5);
    GradScaler scaler;
    set_gradient(p, 1), set_gradient(q, 1);
    q.grad()[69'999].fill_(bad);
    scaler.step(sgd);
    expect_values(p, {1, 1, 1}, 0);
    EXPECT_EQ(q.detach().eq(1).sum().item<int64_t>(), 70'000);
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), 32768);
  }
}

TEST(GradScaler, TakesLargeGradientsForFinite) {
  const Tensor p = ones({1}, requires_grad()), q = ones({1}, requires_grad());
  const Tensor r = ones({1}, dtype(kDouble).requires_grad(true));
  for (const Tensors& parameters : {Tensors{p, q}, Tensors{p, r}}) {
    SGD sgd(parameters, 0.5);
    GradScaler scaler(GradScalerOptions().init_scale(1));
    set_gradient(parameters[0], 2e38);
    set_gradient(parameters[1], parameters[1].dtype() == kDouble ? 1e300 : 2e38);
    scaler.step(sgd);
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), 1);
  }
}

// https://pytorch.org/docs/stable/amp.html: grown after growth_interval steps without inf or NaN,
// lower after one with; either begins the count anew.
TEST(GradScaler, GrowsAndFallsByItsRule) {
  const Tensor p = ones({1}, requires_grad());
  SGD sgd({p}, 0);
  GradScaler scaler(
      GradScalerOptions().init_scale(8).growth_factor(4).backoff_factor(0.25).growth_interval(3));
  const std::vector<int> finite = {1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1};
  const std::vector<double> scales = {8, 8, 32, 8, 8, 8, 2, 0.5, 0.5, 0.5, 2, 2, 2, 8};
  for (size_t i = 0; i < finite.size(); ++i) {
    set_gradient(p, finite[i] ? 1 : kInfinity);
    scaler.step(sgd);
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), scales[i]) << i;
  }
  set_gradient(p, 1);
  scaler.update(100);
  EXPECT_EQ(scaler.get_scale(), 100);
  GradScaler largest(GradScalerOptions().init_scale(0x1p127).growth_interval(1));
  largest.step(sgd), largest.update();
  EXPECT_EQ(largest.get_scale(), 0x1p127);
}

TEST(GradScaler, OneBadOptimizerLowersTheScaleOfAll) {
  const Tensor p = ones({1}, requires_grad()), q = ones({1}, requires_grad());
  SGD good({p}, 0.5), bad({q}, 0.5);
  GradScaler scaler(GradScalerOptions().init_scale(2));
  set_gradient(p, 2), set_gradient(q, kInfinity);
  scaler.step(good), scaler.step(bad);
  scaler.update();
  expect_values(p, {0.5});
  expect_values(q, {1});
  EXPECT_EQ(scaler.get_scale(), 1);
}

TEST(GradScaler, GoesOnFromItsStateDict) {
  const Tensor p = ones({1}, requires_grad());
  SGD sgd({p}, 0);
  GradScaler first(GradScalerOptions().init_scale(8).growth_interval(2)), second;
  set_gradient(p, 1);
  first.step(sgd), first.update();
  second.load_state_dict(first.state_dict());
  second.step(sgd), second.update();
  EXPECT_EQ(second.get_scale(), 16);
  EXPECT_EQ(second.get_growth_interval(), 2);
  GradScaler off(GradScalerOptions().enabled(false));
  expect_error<ValueError>(
      [&] { second.load_state_dict(off.state_dict()); },
      "GradScaler: load_state_dict: the values do not fit:\n  scale is missing");
}

TEST(GradScaler, DoesNothingWhereItIsDisabled) {
  const Tensor p = ones({1}, requires_grad());
  SGD sgd({p}, 0.5);
  GradScaler scaler(GradScalerOptions().enabled(false));
  EXPECT_TRUE(scaler.scale(p).is_same(p));
  set_gradient(p, kInfinity);
  scaler.unscale_(sgd), scaler.step(sgd), scaler.update();
  expect_values(p, {-kInfinity});
  EXPECT_EQ(scaler.get_scale(), 1);
}

TEST(GradScaler, RefusesCallsOutOfOrder) {
  const Tensor p = ones({1}, requires_grad()),
               half = ones({1}, TensorOptions(kHalf).requires_grad(true));
  SGD sgd({p}, 0.5), halves({half}, 0.5);
  GradScaler scaler;
  expect_error<Error>([&] { scaler.update(); }, "No inf checks were recorded prior to update");
  set_gradient(p, 1), set_gradient(half, 1);
  scaler.unscale_(sgd);
  expect_error<Error>([&] { scaler.unscale_(sgd); },
                      "unscale_() has already been called on this optimizer since the last update");
  scaler.step(sgd);
  expect_error<Error>([&] { scaler.step(sgd); },
                      "step() has already been called since the last update().");
  expect_error<Error>([&] { scaler.unscale_(sgd); }, "unscale_() is being called after step().");
  expect_error<ValueError>([&] { scaler.unscale_(halves); },
                           "Attempting to unscale FP16 gradients");
  expect_values(half.grad(), {1});
  expect_error<ValueError>([] { GradScaler(GradScalerOptions().growth_factor(1)); },
                           "growth_factor is 1, expected a number above 1");
  expect_error<ValueError>([] { GradScaler(GradScalerOptions().backoff_factor(1)); },
                           "backoff_factor is 1, expected a number below 1");
}

}  // namespace
}  // namespace gradus
