// The engine: accumulation, retain_graph, create_graph, depth, changes in place.
#include <gtest/gtest.h>

#include "gradus/gradus.h"
#include "tests/support.h"

namespace gradus {
namespace {

TEST(Engine, ComputesAKnownGradient) {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}}, requires_grad());
  (x * x + 3 * x).sum().backward();
  expect_values(x.grad(), {5, 7, 9, 11});
}

TEST(Engine, AccumulatesOverUsesAndOverBackwards) {
  const Tensor x = tensor({2.0}, requires_grad());
  (x * x * x).sum().backward();
  expect_values(x.grad(), {12});
  (x + x).sum().backward();
  expect_values(x.grad(), {14});
}

TEST(Engine, TwoLeavesOfOneSumDoNotShareTheirGradient) {
  const Tensor a = tensor({1.0}, requires_grad()), b = tensor({1.0}, requires_grad());
  (a + b).sum().backward();
  a.mutable_grad().add_(1);
  expect_values(a.grad(), {2});
  expect_values(b.grad(), {1});
}

TEST(Engine, SumsGradientsOverBroadcastDimensions) {
  const Tensor row = ones({3}, requires_grad()), column = ones({2, 1}, requires_grad());
  (row * column * 2).sum().backward();
  expect_values(row.grad(), {4, 4, 4});
  expect_values(column.grad(), {6, 6});
}

TEST(Engine, BringsGradientsToTheDtypeOfTheirTensor) {
  const Tensor x = ones({2}, requires_grad());
  (x.to(kDouble) * 3).sum().backward();
  EXPECT_EQ(x.grad().dtype(), kFloat);
  expect_values(x.grad(), {3, 3});
}

TEST(Engine, RefusesASecondBackwardThroughAFreedGraph) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor y = (x * x).sum();
  y.backward();
  expect_error<Error>([&] { y.backward(); }, "retain_graph = true");
  expect_error<Error>([&] { y.backward(); }, "detach() what an earlier step computed");
}

TEST(Engine, RetainGraphAllowsASecondBackward) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor y = (x * x).sum();
  y.backward({}, /*retain_graph=*/true);
  y.backward();
  expect_values(x.grad(), {8});
}

TEST(Engine, CreateGraphGivesGradientsOfGradients) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor first = autograd::grad({x.pow(3).sum()}, {x}, {}, true, /*create_graph=*/true)[0];
  expect_values(first, {12});
  const Tensor second = autograd::grad({first.sum()}, {x}, {}, true, true)[0];
  expect_values(second, {12});
  expect_values(autograd::grad({second.sum()}, {x})[0], {6});
}

TEST(Engine, GradTouchesNoGradField) {
  const Tensor x = tensor({2.0}, requires_grad()), w = tensor({3.0}, requires_grad());
  const Tensor y = (x * w).sum();
  expect_values(autograd::grad({y}, {x})[0], {3});
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(w.grad().defined());
}

TEST(Engine, GradByAnIntermediateTensor) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor h = x * 3;
  expect_values(autograd::grad({(h * h).sum()}, {h})[0], {12});
}

TEST(Engine, GradReportsAnInputThatWasNotUsed) {
  const Tensor x = tensor({2.0}, requires_grad()), other = tensor({1.0}, requires_grad());
  const Tensor y = (x * 2).sum();
  expect_error<Error>([&] { autograd::grad({y}, {other}, {}, true); },
                      "; pass allow_unused = true to autograd::grad");
  EXPECT_FALSE(autograd::grad({y}, {other}, {}, true, false, /*allow_unused=*/true)[0].defined());
}

TEST(Engine, BackwardOfSelectedInputsLeavesOthersAlone) {
  const Tensor x = tensor({2.0}, requires_grad()), w = tensor({3.0}, requires_grad());
  autograd::backward({(x * w).sum()}, {}, std::nullopt, false, {w});
  EXPECT_FALSE(x.grad().defined());
  expect_values(w.grad(), {2});
}

TEST(Engine, BackwardOfSelectedInputsTakesTensorsThatAreNoLeaves) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor h = x * 3, y = (h * h).sum();
  y.backward({}, /*retain_graph=*/true, false, Tensors{h, h});
  expect_values(h.grad(), {12});
  EXPECT_FALSE(x.grad().defined());
  y.backward({}, std::nullopt, false, Tensors{x, h});
  expect_values(h.grad(), {24});
  expect_values(x.grad(), {36});
  expect_error<Error>([&] { y.backward({}, true, false, Tensors{}); }, "inputs is an empty list");
  expect_error<Error>([&] { y.backward({}, true, false, Tensors{ones({1})}); },
                      "One of the differentiated Tensors does not require grad");
}

TEST(Engine, ANodeIsToldWhichGradientsAreNeeded) {
  struct Product : autograd::Function<Product> {
    static Tensor forward(autograd::AutogradContext* ctx, const Tensor& a, const Tensor& b) {
      ctx->save_for_backward({a, b});
      return a * b;
    }
    static Tensors backward(autograd::AutogradContext* ctx, Tensors grads) {
      EXPECT_TRUE(ctx->needs_input_grad(0));
      EXPECT_FALSE(ctx->needs_input_grad(1));
      return {grads[0] * ctx->get_saved_variables()[1], Tensor()};
    }
  };
  const Tensor a = tensor({2.0}, requires_grad()), b = tensor({3.0}, requires_grad());
  expect_values(autograd::grad({Product::apply(a, b * 1).sum()}, {a})[0], {3});
}

TEST(Engine, ReportsGradientsThatDoNotMatchTheirTensors) {
  const Tensor x = ones({2}, requires_grad());
  const Tensor y = x * 2;
  expect_error<ValueError>(
      [&] {
        autograd::backward({y.sum(), y.sum()}, {ones({})});
      },
      "got 2 tensors and 1 gradients");
  expect_error<ValueError>([&] { autograd::grad({y.sum()}, {}); }, "requires non-empty inputs");
  expect_error<Error>([&] { autograd::grad({y.sum()}, {ones({1})}); }, "does not require grad");
  EXPECT_FALSE(x.grad().defined());
}

TEST(Engine, SeveralRootsAddUp) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor y = x * x;
  autograd::backward({y.sum(), (y * 3).sum()});
  expect_values(x.grad(), {16});
}

TEST(Engine, ExplainsWhatCannotBeDifferentiated) {
  const Tensor x = ones({2}), y = ones({2}, requires_grad());
  expect_error<Error>([&] { x.sum().backward(); },
                      "does not require grad and does not have a grad_fn");
  expect_error<Error>([&] { (y * 2).backward(); },
                      "grad can be implicitly created only for scalar outputs");
  expect_error<Error>(
      [&] { (y * 2).backward(ones({3})); },
      "invalid gradient at index 0 - got [3] but expected shape compatible with [2]");
  expect_error<TypeError>([&] { ones({2}, kLong).requires_grad_(); }, "floating point");
  Tensor computed = y * 2;
  expect_error<Error>([&] { computed.requires_grad_(false); },
                      "you can only change requires_grad flags of leaf variables. MulBackward0 "
                      "computed this one; use detach()");
}

TEST(Engine, SumsAGivenGradientOverWhatBroadcasts) {
  const Tensor x = ones({2}, requires_grad());
  (x * 2).backward(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  expect_values(x.grad(), {8, 12});
}

TEST(Detach, SharesMemoryAndStopsGradients) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor d = x.detach();
  EXPECT_EQ(d.data_ptr(), x.data_ptr());
  EXPECT_FALSE(d.requires_grad());
  (x * d).sum().backward();
  expect_values(x.grad(), {2});
}

TEST(InPlace, RecordsItsOwnDerivative) {
  const Tensor x = tensor({2.0, 3.0}, requires_grad());
  Tensor y = x * 2;
  y.mul_(x);
  y.sin_();
  y.sum().backward();
  const Tensor expected = 4 * x.detach() * (2 * x.detach() * x.detach()).cos();
  expect_values(x.grad(), {expected[0].item<double>(), expected[1].item<double>()}, 1e-5);
}

TEST(InPlace, MakesAPlainTensorPartOfTheGraph) {
  const Tensor w = tensor({2.0}, requires_grad());
  Tensor x = ones({1});
  x.mul_(w).add_(w);
  EXPECT_TRUE(x.requires_grad());
  x.sum().backward();
  expect_values(w.grad(), {2});
}

TEST(InPlace, IsRefusedOnALeafThatRequiresGrad) {
  Tensor x = ones({2}, requires_grad());
  expect_error<Error>([&] { x.add_(1); }, "a leaf Variable that requires grad");
  Tensor view = x[0];
  expect_error<Error>([&] { view.add_(1); }, "a view of a leaf");
  const NoGradGuard guard;
  x.add_(1);
  expect_values(x, {2, 2});
}

TEST(InPlace, CopyRecordsItsSource) {
  const Tensor w = ones({2}, requires_grad());
  Tensor x = zeros({3, 2}, kDouble);
  x.copy_(w * 2);
  x.sum().backward();
  expect_values(w.grad(), {6, 6});
}

TEST(InPlace, ComparisonsLeaveNothingOfTheOldHistory) {
  const Tensor a = ones({3}, requires_grad());
  const Tensor x = a * 2;
  x.gt_(0);
  x.sum().backward();
  expect_values(a.grad(), {0, 0, 0}, 0);
}

TEST(Engine, CreateGraphGivesEveryLeafAGradientOfItsOwn) {
  const Tensor a = tensor({1.0}, requires_grad()), b = tensor({1.0}, requires_grad());
  (a + b).pow(2).sum().backward({}, std::nullopt, true);
  EXPECT_TRUE(a.grad().requires_grad());
  nn::utils::clip_grad_norm_({a, b}, 1);
  expect_values(a.grad(), {std::sqrt(0.5)}, 1e-5);
  expect_values(b.grad(), {std::sqrt(0.5)}, 1e-5);
}

TEST(Engine, CreateGraphGivesGradientsThatCanChangeInPlace) {
  const Tensor a = ones({2}, requires_grad()), b = ones({2}, requires_grad());
  a.sum().backward({}, std::nullopt, true);
  a.grad().mul_(3);
  expect_values(a.grad(), {3, 3}, 0);
  const Tensor given = ones({2});
  (b + 1).backward(given, std::nullopt, true);
  b.grad().mul_(3);
  expect_values(given, {1, 1}, 0);
}

}  // namespace
}  // namespace gradus
