// checkpoint(): the same gradients without what was saved for them.
#include "gradus/autograd/tools/gradcheck.h"
#include "tests/support.h"

namespace gradus {
namespace {

using autograd::checkpoint;

Tensor uniform_leaf(IntArrayRef sizes) { return rand(sizes, dtype(kDouble)).requires_grad_(); }

TEST(Checkpoint, HasTheGradientsOfTheFunction) {
  const auto block = [](const Tensors& in) {
    return Tensors{(in[0] * in[1]).sin() * in[0], in[1].exp()};
  };
  const auto f = [&](const Tensors& in) { return checkpoint(block, {in[0] * 2, in[1]}); };
  EXPECT_TRUE(autograd::gradcheck(f, {uniform_leaf({3}), uniform_leaf({3})}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {uniform_leaf({3}), uniform_leaf({3})}));
}

TEST(Checkpoint, KeepsNothingOfTheForwardPassAndRunsOnceMore) {
  const Tensor x = uniform_leaf({4});
  int runs = 0;
  std::vector<std::weak_ptr<TensorImpl>> inside;
  const Tensor y = checkpoint(
      [&](const Tensor& in) {
        ++runs;
        const Tensor a = in.sin(), b = a.exp();
        inside = {a.impl_ptr(), b.impl_ptr()};
        return a * b;
      },
      x);
  for (const auto& tensor : inside) EXPECT_TRUE(tensor.expired());
  EXPECT_EQ(runs, 1);
  y.sum().backward();
  EXPECT_EQ(runs, 2);
  for (const auto& tensor : inside) EXPECT_TRUE(tensor.expired());
  const Tensor s = x.detach().sin(), expected = s.exp() * x.detach().cos() * (1 + s);
  expect_values(x.grad(), to_vector(expected), 1e-12);
}

TEST(Checkpoint, ReachesTensorsThatTheFunctionCaptured) {
  const Tensor x = uniform_leaf({3}), w = uniform_leaf({3});
  checkpoint([&](const Tensor& in) { return (in * w).exp(); }, x).sum().backward();
  expect_values(w.grad(), to_vector((x.detach() * (x * w).exp().detach())), 1e-12);
  const Tensors both = autograd::grad(
      {checkpoint([&](const Tensor& in) { return (in * w).exp(); }, x).sum()}, {w, x});
  expect_values(both[0], to_vector(w.grad()), 1e-12);
  expect_values(both[1], to_vector((w.detach() * (x * w).exp().detach())), 1e-12);
}

TEST(Checkpoint, DrawsTheSameRandomNumbersAgainAndLeavesTheOthersAlone) {
  manual_seed(3);
  const Tensor x = ones({100}, requires_grad());
  Tensor mask;
  const Tensor y = checkpoint(
      [&](const Tensor& in) {
        mask = (rand({100}) > 0.5).to(kFloat);
        return (in * mask).pow(2);
      },
      x);
  const Tensor first = mask.clone();
  const Tensor next = rand({1});
  manual_seed(4);
  const Tensor expected_next = rand({1});
  manual_seed(4);
  y.sum().backward();
  expect_values(rand({1}), to_vector(expected_next), 0);
  expect_values(mask, to_vector(first), 0);
  expect_values(x.grad(), to_vector(2 * first));
}

TEST(Checkpoint, StandsWithinAnother) {
  int inner_runs = 0;
  const auto inner = [&](const Tensor& in) {
    ++inner_runs;
    return in.sin().exp();
  };
  const auto outer = [&](const Tensor& in) { return checkpoint(inner, in.cos()).tanh() * in; };
  const auto f = [&](const Tensors& in) { return Tensors{checkpoint(outer, in[0])}; };
  EXPECT_TRUE(autograd::gradcheck(f, {uniform_leaf({2})}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {uniform_leaf({2})}));
  inner_runs = 0;
  f({uniform_leaf({2})})[0].sum().backward();
  EXPECT_GE(inner_runs, 2);
}

TEST(Checkpoint, CanBeGoneThroughTwice) {
  const Tensor x = uniform_leaf({3});
  const Tensor y = checkpoint([](const Tensor& in) { return in.exp() * in; }, x).sum();
  y.backward({}, /*retain_graph=*/true);
  const std::vector<double> once = to_vector(x.grad());
  y.backward();
  for (size_t i = 0; i < once.size(); ++i) EXPECT_DOUBLE_EQ(to_vector(x.grad())[i], 2 * once[i]);
  expect_error<Error>([&] { y.backward(); }, "a second time");
}

TEST(Checkpoint, RecordsNothingWithoutGrad) {
  const NoGradGuard guard;
  EXPECT_FALSE(
      checkpoint([](const Tensor& in) { return in * 2; }, uniform_leaf({1})).requires_grad());
}

TEST(Checkpoint, ReportsAFunctionThatDiffersAndAnInputThatWasChanged) {
  const Tensor x = uniform_leaf({3});
  bool again = false;
  const Tensor y = checkpoint(
      [&](const Tensor& in) { return std::exchange(again, true) ? in.exp() : in.exp().exp(); }, x);
  expect_error<Error>([&] { y.sum().backward(); }, "saved 2 tensors for its backward, and 1");
  Tensor h = x * 2;
  const Tensor z = checkpoint([](const Tensor& in) { return in.exp(); }, h);
  h.add_(1);
  expect_error<Error>([&] { z.sum().backward(); }, "checkpoint saved it");
}

TEST(Checkpoint, ReportsWhatTheFunctionSavesAndThenChanges) {
  const auto f = [](const Tensor& t) {
    const Tensor y = t.exp(), z = y * 1;
    y.mul_(10);
    return y.sum() + z.sum();
  };
  const Tensor x = uniform_leaf({1});
  const Tensor out = checkpoint(f, x);
  expect_error<Error>([&] { out.backward(); },
                      "has been modified by an inplace operation: [CPUDoubleType [1]] is at "
                      "version 1; expected version 0 instead");
}

}  // namespace
}  // namespace gradus
