// Backward passes within backward passes, and errors in them.
#include <stdexcept>

#include "gradus/autograd/engine/node.h"
#include "tests/support.h"

namespace gradus {
namespace {

using autograd::AutogradContext;

// x times 1. Its backward pass runs `depth` nested backward passes of the same kind.
struct Nest : autograd::Function<Nest> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int depth) {
    ctx->saved_data["depth"] = depth;
    return x.clone();
  }
  static Tensors backward(AutogradContext* ctx, Tensors grads) {
    const auto depth = static_cast<int>(ctx->saved_data["depth"].toInt());
    if (depth == 0) return {grads[0], Tensor()};
    EXPECT_FALSE(GradMode::is_enabled());
    const AutoGradMode mode(true);
    const Tensor inner = grads[0].detach().requires_grad_();
    Nest::apply(inner, depth - 1).backward(ones_like(inner));
    return {grads[0] * inner.grad(), Tensor()};
  }
};

struct Throw : autograd::Function<Throw> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 1; }
  static Tensors backward(AutogradContext*, Tensors) { throw std::runtime_error("mine"); }
};

TEST(Reentrant, ABackwardRunsInTheBackwardOfAFunction) {
  const Tensor x = tensor({2.0}, requires_grad());
  (Nest::apply(x, 1) * 3).sum().backward();
  expect_values(x.grad(), {3});
}

TEST(Reentrant, IsBoundedByNoStack) {
  const Tensor x = tensor({2.0}, requires_grad());
  Nest::apply(x, 3000).sum().backward();
  expect_values(x.grad(), {1});
}

TEST(Reentrant, ABackwardRunsInAHookAndMayAccumulateIntoTheSameLeaf) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor y = x * x;
  y.register_hook([&](const Tensor&) {
    const AutoGradMode mode(true);
    (x * 10).sum().backward();
  });
  y.sum().backward();
  expect_values(x.grad(), {14});
}

TEST(Reentrant, TheInnerPassAsksForItsOwnGradients) {
  const Tensor x = tensor({2.0}, requires_grad()), w = tensor({3.0}, requires_grad());
  const Tensor y = x * w;
  y.register_hook([&](const Tensor&) {
    const AutoGradMode mode(true);
    (x * w).sum().backward();  // the outer pass does not want w
  });
  expect_values(autograd::grad({y.sum()}, {x})[0], {3});
  expect_values(w.grad(), {2});
  expect_values(x.grad(), {3});
}

TEST(ErrorsInBackward, PropagateAndLeaveTheGraphUsable) {
  const Tensor x = tensor({2.0}, requires_grad());
  const Tensor h = x * x;
  bool fails = true;
  h.register_hook([&](const Tensor& grad) {
    if (fails) throw std::runtime_error("mine");
    return grad;
  });
  const Tensor y = h.sum();
  EXPECT_THROW(y.backward(), std::runtime_error);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(GradMode::is_enabled());
  fails = false;
  y.backward();  // what had run before the error saved nothing
  expect_values(x.grad(), {4});
}

TEST(ErrorsInBackward, ComeOutOfDeepAndOfOtherThreadsPasses) {
  const Tensor x = tensor({2.0}, requires_grad());
  EXPECT_THROW(Throw::apply(x).sum().backward(), std::runtime_error);
  int calls = 0;
  const std::function<void(int)> nest = [&](int depth) {
    const AutoGradMode mode(true);
    const Tensor leaf = ones({1}, requires_grad());
    const Tensor y = leaf * 1;
    ++calls;
    y.register_hook([&, depth](const Tensor&) {
      if (depth == 0) throw std::runtime_error("mine");
      nest(depth - 1);
    });
    y.sum().backward();
  };
  EXPECT_THROW(nest(200), std::runtime_error);
  EXPECT_EQ(calls, 201);
}

TEST(ErrorsInBackward, LeakNothing) {
  std::weak_ptr<Node> node;
  std::weak_ptr<TensorImpl> leaf;
  {
    const Tensor x = tensor({2.0}, requires_grad());
    const Tensor y = Throw::apply(x.exp()).exp().sum();
    node = y.grad_fn(), leaf = x.impl_ptr();
    EXPECT_THROW(y.backward(), std::runtime_error);
  }
  EXPECT_TRUE(node.expired());
  EXPECT_TRUE(leaf.expired());
}

}  // namespace
}  // namespace gradus
