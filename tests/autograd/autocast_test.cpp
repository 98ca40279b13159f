// The state of autocast, its cache, and what it means to backward passes, checkpoints, custom
// functions and threads.
#include <thread>

#include "gradus/autograd/engine/node.h"
#include "tests/support.h"

namespace gradus {
namespace {

using amp::autocast;
namespace state = gradus::autocast;

Tensor product(const Tensor& x) { return mm(x, x); }

TEST(Autocast, HasTheStateOfItsScope) {
  const Tensor x = rand({2, 2});
  EXPECT_FALSE(state::is_autocast_enabled(kCPU));
  EXPECT_EQ(state::get_autocast_dtype(kCPU), kBFloat16);
  EXPECT_EQ(state::get_autocast_dtype(kCUDA), kHalf);
  {
    const autocast outer(kCPU, kHalf);
    EXPECT_TRUE(state::is_autocast_enabled(kCPU));
    EXPECT_FALSE(state::is_autocast_enabled(kCUDA));
    EXPECT_EQ(product(x).dtype(), kHalf);
    {
      const autocast off(kCPU, std::nullopt, false);
      EXPECT_EQ(product(x).dtype(), kFloat);
      const autocast on(kCPU, kBFloat16);
      EXPECT_EQ(product(x).dtype(), kBFloat16);
    }
    EXPECT_EQ(product(x).dtype(), kHalf);
    const InferenceMode mode;
    EXPECT_EQ(product(x).dtype(), kHalf);
  }
  EXPECT_EQ(state::get_autocast_dtype(kCPU), kBFloat16);
  EXPECT_EQ(product(x).dtype(), kFloat);
}

TEST(Autocast, IsWhatItWasAfterAnError) {
  const Tensor x = rand({2, 2});
  try {
    const autocast guard(kCPU, kHalf);
    mm(x, rand({3, 2}));
    FAIL();
  } catch (const Error&) {
  }
  EXPECT_FALSE(state::is_autocast_enabled(kCPU));
  EXPECT_EQ(state::get_autocast_dtype(kCPU), kBFloat16);
  const autocast guard(kCPU);
  EXPECT_THROW(mm(x, rand({3, 2})), Error);
  EXPECT_EQ(product(x).dtype(), kBFloat16);
  expect_error<TypeError>([] { autocast(kCPU, kDouble); },
                          "dtype is float64, expected float16 or bfloat16");
  EXPECT_EQ(state::get_autocast_dtype(kCPU), kBFloat16);
}

TEST(Autocast, LeavesFloat64AndIntegersAlone) {
  const autocast guard(kCPU);
  EXPECT_EQ(product(rand({2, 2}, kDouble)).dtype(), kDouble);
  EXPECT_EQ(product(ones({2, 2}, kLong)).dtype(), kLong);
  EXPECT_EQ(rand({2, 2}).exp().dtype(), kFloat);
}

TEST(Autocast, GivesGradientsOfFloat32) {
  const Tensor x = rand({4, 3}), w = rand({2, 3}, requires_grad()), b = rand({2}, requires_grad());
  Tensor loss;
  {
    const autocast guard(kCPU, kBFloat16);
    const Tensor y = linear(x, w, b);
    EXPECT_EQ(y.dtype(), kBFloat16);
    loss = mse_loss(y, ones_like(y));
    EXPECT_EQ(loss.dtype(), kFloat);
    // A backward pass under autocast, too, has the types of the forward one.
    loss.backward({}, /*retain_graph=*/true);
  }
  const Tensor inside = w.grad().clone();
  w.mutable_grad() = b.mutable_grad() = Tensor();
  loss.backward();
  EXPECT_EQ(w.grad().dtype(), kFloat);
  EXPECT_EQ(b.grad().dtype(), kFloat);
  EXPECT_TRUE(equal(w.grad(), inside));
  const Tensor w64 = w.detach().to(kDouble).requires_grad_(),
               y = linear(x.to(kDouble), w64, b.detach().to(kDouble));
  mse_loss(y, ones_like(y)).backward();
  EXPECT_TRUE(allclose(w.grad().to(kDouble), w64.grad(), 0.03, 0.01));
}

TEST(Autocast, ConvertsAWeightOncePerScope) {
  const Tensor x = rand({1, 2}), w = rand({2, 2}, requires_grad());
  const auto conversion = [&] { return linear(x, w).grad_fn()->next_edge(1).function.get(); };
  {
    const autocast guard(kCPU);
    const Node* const first = conversion();
    EXPECT_EQ(first, conversion());
    {
      const autocast inner(kCPU);
      EXPECT_EQ(first, conversion());
    }
    EXPECT_EQ(first, conversion());
    // Not where it would be another: without a graph, or of another type.
    {
      const NoGradGuard no_grad;
      EXPECT_FALSE(linear(x, w).requires_grad());
    }
    EXPECT_TRUE(linear(x, w).requires_grad());
    const Tensor before = linear(x, w);
    {
      const NoGradGuard no_grad;
      Tensor(w).add_(1);
    }
    EXPECT_FALSE(equal(linear(x, w), before));
    const autocast half(kCPU, kHalf);
    EXPECT_EQ(linear(x, w).dtype(), kHalf);
  }
  const autocast guard(kCPU, std::nullopt, true, /*cache_enabled=*/false);
  EXPECT_FALSE(state::is_autocast_cache_enabled());
  const Tensor y = linear(x, w), z = linear(x, w);
  EXPECT_NE(y.grad_fn()->next_edge(1).function, z.grad_fn()->next_edge(1).function);
}

TEST(Autocast, SumsTheGradientsOfAWeightThatIsUsedTwice) {
  const Tensor w = rand({2, 2}, requires_grad());
  {
    const autocast guard(kCPU);
    (mm(w, w).sum() + mm(w, ones({2, 2})).sum()).backward();
  }
  const Tensor exact = w.detach().to(kDouble).requires_grad_();
  (mm(exact, exact).sum() + mm(exact, ones({2, 2}, kDouble)).sum()).backward();
  EXPECT_TRUE(allclose(w.grad().to(kDouble), exact.grad(), 0.02, 0.01));
}

TEST(Autocast, CountsNesting) {
  EXPECT_EQ(state::increment_nesting(), 1);
  {
    const autocast guard(kCPU);
    EXPECT_EQ(state::increment_nesting(), 3);
    EXPECT_EQ(state::decrement_nesting(), 2);
  }
  EXPECT_EQ(state::decrement_nesting(), 0);
}

TEST(Autocast, BelongsToOneThread) {
  const autocast guard(kCPU);
  bool elsewhere = true;
  std::thread([&] { elsewhere = state::is_autocast_enabled(kCPU); }).join();
  EXPECT_FALSE(elsewhere);
}

TEST(Autocast, RecomputesACheckpointAsItWas) {
  const Tensor x = rand({3, 3}, requires_grad()), y = x.detach().clone().requires_grad_();
  const auto f = [](const Tensor& a) { return mm(mm(a, a), a).exp(); };
  Tensor direct, kept;
  {
    const autocast guard(kCPU, kHalf);
    direct = f(x);
    kept = autograd::checkpoint(f, y);
  }
  direct.sum().backward(), kept.sum().backward();
  EXPECT_TRUE(equal(x.grad(), y.grad()));
}

// forward() computes as its caller does, backward() as without autocast.
struct Square : autograd::Function<Square> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return mm(x, x);
  }
  static Tensors backward(autograd::AutogradContext* ctx, Tensors grads) {
    const Tensor x = ctx->get_saved_variables()[0], g = grads[0].to(kFloat);
    EXPECT_EQ(mm(g, x).dtype(), kFloat);
    return {mm(g, x.t()) + mm(x.t(), g)};
  }
};

TEST(Autocast, ReachesTheForwardOfACustomFunction) {
  const Tensor x = rand({2, 2}, requires_grad());
  const autocast guard(kCPU);
  const Tensor y = Square::apply(x);
  EXPECT_EQ(y.dtype(), kBFloat16);
  y.sum().backward();
  EXPECT_EQ(x.grad().dtype(), kFloat);
}

TEST(Autocast, LeavesOperationsInPlaceTheirType) {
  const Tensor x = rand({2, 2}), before = x.clone();
  const autocast guard(kCPU);
  Tensor(x).addmm_(before, before);
  EXPECT_EQ(x.dtype(), kFloat);
  EXPECT_TRUE(
      allclose(x, before + before.to(kDouble).mm(before.to(kDouble)).to(kFloat), 0.02, 0.01));
}

// A row without a call of GRADUS_AUTOCAST would do nothing: tests/conformance/ops/autocast_test.cpp
// and tests/nn/autocast_test.cpp see that. A sum of 16 bit products is one of float32.
TEST(Autocast, AccumulatesProductsInFloat32) {
  for (const ScalarType dtype : {kBFloat16, kHalf}) {
    const int64_t n = 4096;
    const Tensor a = rand({4, n}).to(dtype), b = rand({n, 4}).to(dtype);
    const Tensor exact = mm(a.to(kDouble), b.to(kDouble));
    // Half a unit in the last place of the result, and of float32 for each sum.
    const double unit = dtype == kHalf ? 0x1p-11 : 0x1p-8;
    EXPECT_TRUE(allclose(mm(a, b).to(kDouble), exact, unit * 1.05, 0)) << dtype;
    const Tensor image = rand({1, 64, 8, 8}).to(dtype), kernel = rand({2, 64, 8, 8}).to(dtype);
    EXPECT_TRUE(allclose(conv2d(image, kernel).to(kDouble),
                         conv2d(image.to(kDouble), kernel.to(kDouble)), unit * 1.05, 0));
    if (!cuda::is_available()) continue;
    EXPECT_TRUE(allclose(mm(a.cuda(), b.cuda()).cpu().to(kDouble), exact, unit * 1.05, 0)) << dtype;
    EXPECT_TRUE(allclose(conv2d(image.cuda(), kernel.cuda()).cpu().to(kDouble),
                         conv2d(image.to(kDouble), kernel.to(kDouble)), unit * 1.05, 0));
  }
}

}  // namespace
}  // namespace gradus
