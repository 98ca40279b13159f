// Sums with a factor: one pass, also into an operand.
#include "tests/support.h"

namespace gradus {
namespace {

// Returns x.add_(f(x), 2), where f(x) is a part of x.
void check_part(const std::function<Tensor(const Tensor&)>& f) {
  const Tensor x = randn({5, 5}), want = x + f(x).clone() * 2;
  Tensor y = x.clone(), z = x.clone();
  y.add_(f(y), 2);
  z.sub_(f(z), -2);
  EXPECT_TRUE(y.equal(want)) << y << want;
  EXPECT_TRUE(z.equal(want)) << z << want;
}

TEST(AddWithFactor, ReadsAPartOfWhatItChangesBeforeItDoes) {
  check_part([](const Tensor& x) { return x; });
  check_part([](const Tensor& x) { return x.t(); });
  check_part([](const Tensor& x) { return x[2]; });
  check_part([](const Tensor& x) { return x.select(1, 1).unsqueeze(1); });
  check_part([](const Tensor& x) { return x.narrow(0, 1, 1); });
}

TEST(AddWithFactor, KeepsDtypeAndLayout) {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kInt, kLong}) {
    const Tensor x = (randn({4, 3}) * 10).to(dtype).t(), y = (randn({3, 4}) * 10).to(dtype);
    const Tensor want = x + y * 3, less = x - y * 3;
    Tensor sum = x.clone(), difference = x.clone();
    sum.add_(y, 3), difference.sub_(y, 3);
    EXPECT_EQ(sum.dtype(), dtype);
    EXPECT_EQ(sum.strides(), x.strides());
    const double tolerance = dtype == kHalf ? 0.02 : dtype == kBFloat16 ? 0.2 : 1e-5;
    EXPECT_TRUE(sum.to(kDouble).allclose(want.to(kDouble), tolerance, tolerance)) << dtype;
    EXPECT_TRUE(difference.to(kDouble).allclose(less.to(kDouble), tolerance, tolerance)) << dtype;
    EXPECT_TRUE(add(x, y, 3).equal(sum)) << dtype;
    EXPECT_TRUE(sub(x, y, 3).equal(difference)) << dtype;
  }
  Tensor narrow = ones({2}, kFloat);
  narrow.add_(ones({2}, kDouble), 0.5);
  EXPECT_TRUE(narrow.equal(full({2}, 1.5)));
}

TEST(AddWithFactor, IsOneNode) {
  const Tensor x = randn({2, 3}, requires_grad()), y = randn({3}, requires_grad());
  const Tensor out = x.sub(y, 2);
  EXPECT_EQ(out.grad_fn()->name(), "SubBackward0");
  EXPECT_EQ(out.grad_fn()->next_edges().size(), 2u);
  out.sum().backward();
  EXPECT_TRUE(x.grad().equal(ones({2, 3})));
  EXPECT_TRUE(y.grad().equal(full({3}, -4.0)));
  Tensor z = x * 1;
  z.add_(y, 0.5);
  EXPECT_EQ(z.grad_fn()->name(), "AddBackward0");
}

TEST(AddWithFactor, NamesWhatDoesNotFit) {
  const Tensor x = ones({2}), before = x.clone();
  expect_error<ValueError>([&] { x.add_(ones({3}), 2); }, "add");
  expect_error<ValueError>([&] { x.add_(ones({4, 2}), 2); }, "add_: output with shape [2]");
  expect_error<TypeError>([&] { ones({2}, kInt).add_(ones({2}, kInt), 0.5); }, "add: alpha = 0.5");
  expect_error<TypeError>([&] { x.add_(ones({2}), true); }, "add: alpha is bool");
  for (const double alpha : {1, 2})
    expect_error<TypeError>([&] { x.sub_(ones({2}, kBool), alpha); }, "with a bool tensor");
  EXPECT_TRUE(x.equal(before));
}

// Large contiguous tensors are multiplied by themselves; others are squared and summed.
TEST(Norm, IsTheSameHoweverItIsComputed) {
  const Tensor x = randn({300, 200}, kDouble);
  const double want = std::sqrt((x * x).sum().item<double>());
  for (const Tensor& layout : {x, x.t(), x.t().contiguous(), x.reshape({20, 15, 200})})
    EXPECT_NEAR(layout.norm().item<double>(), want, 1e-12 * want);
  EXPECT_EQ(x.norm(2, {0, 1}, true).sizes(), IntArrayRef({1, 1}));
  EXPECT_NEAR((x.to(kFloat) * 1e-3).norm().item<double>(), want * 1e-3, 1e-6 * want * 1e-3);
}
TEST(Norm, OfRowsIsTheSameHoweverItIsComputed) {
  const Tensor x = randn({5, 7, 1200}, kDouble);
  const auto expect = [](const Tensor& got, const Tensor& want) {
    EXPECT_EQ(got.sizes(), want.sizes());
    EXPECT_TRUE(got.allclose(want, 1e-12, 0));
  };
  expect(x.norm(2, 2), (x * x).sum(2).sqrt());
  expect(x.norm(2, {1, 2}), (x * x).sum({1, 2}).sqrt());
  expect(x.norm(2, {1, 2}, true), (x * x).sum({1, 2}, true).sqrt());
  expect(x.norm(2, {0, 2}), (x * x).sum({0, 2}).sqrt());
  const Tensor turned = x.permute({2, 0, 1});
  expect(turned.norm(2, 0), (x * x).sum(2).sqrt());
  expect(turned.norm(2, {1, 2}), (x * x).sum({0, 1}).sqrt());
}

}  // namespace
}  // namespace gradus
