// Functions made of pieces: slopes where the pieces meet and at NaN and infinity, as PyTorch has
// them, and the names of their nodes.
#include <limits>

#include "tests/support.h"

namespace gradus {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

Tensor leaf(const std::vector<double>& values) { return tensor(values, kDouble).requires_grad_(); }

using Values = std::vector<double>;

template <class F>
void expect_slopes(const char* what, F f, const Values& at, const Values& y, const Values& slope) {
  SCOPED_TRACE(what);
  const Tensor x = leaf(at), out = f(x);
  expect_values(out, y);
  out.sum().backward();
  expect_values(x.grad(), slope);
}

TEST(Pieces, HaveTheSlopesOfPyTorchWhereTheyMeet) {
  const Values edge = {kNan, kInf, -kInf, -0.0, 0, 1};
  const auto at_edge = [&](const char* what, auto f, const Values& y, const Values& slope) {
    expect_slopes(what, f, edge, y, slope);
  };
  at_edge("leaky_relu", [](const Tensor& x) { return leaky_relu(x); }, {kNan, kInf, -kInf, 0, 0, 1},
          {0.01, 1, 0.01, 0.01, 0.01, 1});
  at_edge("elu", [](const Tensor& x) { return elu(x, 2); }, {kNan, kInf, -2, 0, 0, 1},
          {1, 1, 0, 2, 2, 1});
  at_edge("celu", [](const Tensor& x) { return celu(x); }, {kNan, kInf, -1, 0, 0, 1},
          {1, 1, 0, 1, 1, 1});
  at_edge("softplus", [](const Tensor& x) { return softplus(x); },
          {kNan, kInf, 0, 0.6931471805599453, 0.6931471805599453, 1.3132616875182228},
          {kNan, 1, 0, 0.5, 0.5, 0.7310585786300049});
  at_edge("hardshrink", [](const Tensor& x) { return hardshrink(x); }, {kNan, kInf, -kInf, 0, 0, 1},
          {1, 1, 1, 0, 0, 1});
  at_edge("softshrink", [](const Tensor& x) { return softshrink(x); }, {0, kInf, -kInf, 0, 0, 0.5},
          {1, 1, 1, 0, 0, 1});
  at_edge("hardtanh", [](const Tensor& x) { return hardtanh(x); }, {kNan, 1, -1, 0, 0, 1},
          {1, 0, 0, 1, 1, 0});
  at_edge("threshold", [](const Tensor& x) { return threshold(x, 0, 1.5); },
          {kNan, kInf, 1.5, 1.5, 1.5, 1}, {1, 1, 0, 0, 0, 1});
  at_edge("clamp", [](const Tensor& x) { return clamp(x, 0, 1); }, {kNan, 1, 0, 0, 0, 1},
          {0, 0, 0, 1, 1, 1});
  at_edge("nan_to_num", [](const Tensor& x) { return nan_to_num(x, 3, 4, 5); }, {3, 4, 5, 0, 0, 1},
          {0, 0, 0, 1, 1, 1});
  at_edge("logit", [](const Tensor& x) { return logit(x, 0.1); },
          {kNan, std::log(9), -std::log(9), -std::log(9), -std::log(9), std::log(9)},
          {kNan, 0, 0, 0, 0, 0});
  at_edge("angle", [](const Tensor& x) { return angle(x); }, {kNan, 0, 3.141592653589793, 0, 0, 0},
          {0, 0, 0, 0, 0, 0});
}

TEST(Pieces, ClampByTensorsSharesTheGradientAsPyTorchDoes) {
  const Values at = {-1, 0, 0.5, 1, 2, kNan};
  const auto slopes = [&](double lo, double hi, const Values& x_slope, const Values& lo_slope,
                          const Values& hi_slope) {
    const Tensor x = leaf(at), min = leaf(Values(6, lo)), max = leaf(Values(6, hi));
    clamp(x, min, max).sum().backward();
    expect_values(x.grad(), x_slope);
    expect_values(min.grad(), lo_slope);
    expect_values(max.grad(), hi_slope);
  };
  slopes(0, 1, {0, 1, 1, 1, 0, 0}, {1, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 1, 0});
  slopes(1, 0, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1});
  slopes(0.5, 0.5, {0, 0, 1, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 1, 0});
}

TEST(Pieces, WhatIsNotSelectedDoesNotReachTheGradient) {
  const Tensor x = leaf({1000, -1000}), out = elu(x, 2);
  const Tensor first = autograd::grad({out.sum()}, {x}, {}, true, true)[0];
  expect_values(first, {1, 0});
  expect_values(autograd::grad({first.sum()}, {x})[0], {0, 0});
  const Tensor infinite = leaf({kInf, -1}), weight = leaf({0.5});
  prelu(infinite, weight).sum().backward();
  expect_values(infinite.grad(), {1, 0.5});
  expect_values(weight.grad(), {-1});
}

TEST(Pieces, HaveTheNodeNamesOfPyTorch) {
  const Tensor x = leaf({0.5, 0.25}), y = leaf({1, 2});
  const auto name = [](const Tensor& z) { return std::string(z.grad_fn()->name()); };
  EXPECT_EQ(name(clamp(x, 0, 1)), "ClampBackward1");
  EXPECT_EQ(name(clamp(x, y, y)), "ClampBackward0");
  EXPECT_EQ(name(clamp_min(x, 0)), "ClampMinBackward0");
  EXPECT_EQ(name(clamp_max(x, y)), "ClampMaxBackward1");
  EXPECT_EQ(name(lerp(x, y, 0.5)), "LerpBackward0");
  EXPECT_EQ(name(lerp(x, y, y)), "LerpBackward1");
  EXPECT_EQ(name(addcmul(x, y, y)), "AddcmulBackward0");
  EXPECT_EQ(name(addcdiv(x, y, y)), "AddcdivBackward0");
  EXPECT_EQ(name(leaky_relu(x)), "LeakyReluBackward0");
  EXPECT_EQ(name(rrelu(x, 0.1, 0.2, true)), "RreluWithNoiseBackward0");
  EXPECT_EQ(name(rsub(x, y)), "RsubBackward0");
  EXPECT_EQ(name(rsub(x, 2)), "RsubBackward1");
}

TEST(Pieces, ComparisonsInPlaceKeepTheDtype) {
  Tensor x = tensor({1.0, 2.0, 3.0}), n = tensor({1, 2, 3});
  EXPECT_EQ(x.gt_(1.5).dtype(), kFloat);
  expect_values(x, {0, 1, 1});
  EXPECT_EQ(n.eq_(tensor({3, 2, 1})).dtype(), kLong);
  expect_values(n, {0, 1, 0});
  Tensor flags = tensor({true, false});
  expect_values(flags.logical_and_(tensor({1.0, 1.0})), {1, 0});
}

TEST(Dropout, LeavesTheShareThatWasAskedForAndScalesTheRest) {
  manual_seed(3);
  const Tensor x = ones({200, 100}, kDouble);
  const Tensor y = dropout(x, 0.3, true);
  EXPECT_NEAR((y == 0).sum().item<double>() / 20000, 0.3, 0.02);
  EXPECT_NEAR(y.max().item<double>(), 1 / 0.7, 1e-12);
  const Tensor channels = feature_dropout(ones({50, 20, 4}, kDouble), 0.5, true);
  EXPECT_TRUE((channels.select(2, 0) == channels.select(2, 3)).sum().item<int64_t>() == 1000);
  EXPECT_NEAR(channels.mean().item<double>(), 1, 0.1);
  const Tensor normal = alpha_dropout(randn({200, 100}, kDouble), 0.2, true);
  EXPECT_NEAR(normal.mean().item<double>(), 0, 0.03);
  EXPECT_NEAR(normal.square().mean().item<double>(), 1, 0.05);
  EXPECT_TRUE(dropout(x, 0.3, false).is_same(x));
  EXPECT_TRUE(dropout(x, 0, true).is_same(x));
}

TEST(Dropout, HasTheGradientOfItsMask) {
  const Tensor x = ones({100}, kDouble).requires_grad_();
  const Tensor y = dropout(x, 0.5, true);
  y.sum().backward();
  expect_values(x.grad(), to_vector(y));
  Tensor z = x * 1;
  z.dropout_(0.5, true);
  EXPECT_TRUE(z.requires_grad());
  expect_values(autograd::grad({z.sum()}, {x})[0], to_vector(z));
}

}  // namespace
}  // namespace gradus
