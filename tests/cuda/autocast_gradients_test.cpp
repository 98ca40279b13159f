// Gradients under autocast on a GPU: which ones need no conversion, and that hooks, sums and grad()
// see those of PyTorch's types.
#include "gradus/gradus.h"
#include "tests/cuda/compare.h"
#include "tests/support.h"

namespace gradus {
namespace {

class AutocastGradients : public GpuTest {};

constexpr ScalarType kLow[] = {kHalf, kBFloat16};

Tensor wide(const Tensor& x) { return x.detach().to(kCPU).to(kDouble); }

double apart(const Tensor& got, const Tensor& expected) {
  return (wide(got) - wide(expected)).abs().max().item<double>() /
         (wide(expected).abs().max().item<double>() + 1e-30);
}

// A residual block of a transformer: x + linear(gelu(linear(layer_norm(x)))).
struct Block {
  nn::LayerNorm norm;
  nn::Linear up, down;

  Block(int64_t width, Device device, ScalarType dtype)
      : norm(nn::LayerNormOptions({width})), up(width, 2 * width), down(2 * width, width) {
    for (nn::Module* each : modules()) each->to(device, dtype);
  }
  std::vector<nn::Module*> modules() { return {norm.get(), up.get(), down.get()}; }
  std::vector<Tensor> parameters() {
    std::vector<Tensor> out;
    for (nn::Module* each : modules())
      for (const Tensor& p : each->parameters()) out.push_back(p);
    return out;
  }
  Tensor operator()(const Tensor& x) {
    return x + down->forward(gelu(up->forward(norm->forward(x))));
  }
};

TEST_F(AutocastGradients, OfABlockAreThoseOfFloat64) {
  for (const ScalarType dtype : kLow)
    for (const int64_t width : {8, 20, 96}) {
      Block low(width, kCUDA, kFloat), exact(width, kCPU, kDouble);
      const std::vector<Tensor> mine = low.parameters(), theirs = exact.parameters();
      {
        const NoGradGuard guard;
        for (size_t i = 0; i < mine.size(); ++i) Tensor(theirs[i]).copy_(wide(mine[i]));
      }
      const Tensor x = randn({3, 11, width}), weights = randn({3, 11, width});
      const Tensor a = x.cuda().requires_grad_(), b = x.to(kDouble).requires_grad_();
      (exact(exact(b)) * weights.to(kDouble)).sum().backward();
      std::vector<Tensor> first;
      for (const bool again : {false, true}) {
        {
          const amp::autocast guard(kCUDA, dtype);
          const Tensor y = low(low(a));
          EXPECT_EQ(y.dtype(), kFloat);
          (y * weights.cuda()).sum().backward();
        }
        const double unit = dtype == kHalf ? 0x1p-10 : 0x1p-7;
        std::vector<Tensor> all = mine, of = theirs;
        all.push_back(a), of.push_back(b);
        for (size_t i = 0; i < all.size(); ++i) {
          EXPECT_EQ(all[i].grad().dtype(), kFloat);
          EXPECT_LE(apart(all[i].grad(), of[i].grad()), 4 * unit) << i << " " << width;
          if (again)
            EXPECT_TRUE(all[i].grad().equal(first[i])) << i;  // the same bits in each run
          else
            first.push_back(all[i].grad());
          Tensor(all[i]).mutable_grad() = Tensor();
        }
      }
    }
}

// Operands are rounded, and the products of them are not.
TEST_F(AutocastGradients, OfALinearLayerAreFloat32) {
  for (const ScalarType dtype : kLow)
    for (const bool with_bias : {true, false})
      for (const int64_t out : {7, 40}) {
        const Tensor x = randn({50, 16}).to(dtype).cuda(), grad = randn({50, out}).to(dtype).cuda();
        const Tensor w = randn({out, 16}).cuda().requires_grad_(),
                     b = with_bias ? randn({out}).cuda().requires_grad_() : Tensor();
        {
          const amp::autocast guard(kCUDA, dtype);
          linear(x, w, b).backward(grad);
        }
        EXPECT_LE(apart(w.grad(), wide(grad).t().mm(wide(x))), 1e-6);
        if (with_bias) {
          EXPECT_LE(apart(b.grad(), wide(grad).sum(0)), 1e-6);
        }
      }
}

// What sees a gradient sees its tensor's type, and what PyTorch would give.
TEST_F(AutocastGradients, AreSeenInTheTypeOfTheirTensor) {
  const Tensor x = randn({6, 16}).cuda().requires_grad_(),
               w = randn({8, 16}).cuda().requires_grad_();
  const auto norm = [&] { return layer_norm(x, {16}); };
  const auto dtype_seen = [&](const Tensor& y) {
    ScalarType seen = kLong;
    y.register_hook([&seen](const Tensor& grad) {
      seen = grad.scalar_type();
      return grad;
    });
    linear(y, w).sum().backward();
    return seen;
  };
  const amp::autocast guard(kCUDA, kBFloat16);
  EXPECT_EQ(dtype_seen(norm()), kFloat);
  const Tensor low = norm().to(kBFloat16);
  EXPECT_EQ(dtype_seen(low), kBFloat16);
  const Tensor y = norm();
  y.retain_grad();
  linear(y, w).sum().backward();
  EXPECT_EQ(y.grad().dtype(), kFloat);
  const Tensor kept = norm(), out = linear(kept, w).sum();
  const Tensors grads = autograd::grad({out}, {kept, w, x}, {}, /*retain_graph=*/true);
  for (const Tensor& grad : grads) EXPECT_EQ(grad.dtype(), kFloat);
  EXPECT_TRUE(grads[0].equal(y.grad()));
  // A second pass through the same graph, and one that is recorded.
  x.mutable_grad() = Tensor();
  out.backward({}, /*retain_graph=*/true);
  const Tensor first = x.grad().clone();
  x.mutable_grad() = Tensor();
  out.backward({}, /*retain_graph=*/true);
  EXPECT_TRUE(x.grad().equal(first));
  EXPECT_LE(apart(grads[2], first), 1e-6);
  const Tensor recorded = autograd::grad({out}, {x}, {}, true, /*create_graph=*/true)[0];
  EXPECT_EQ(recorded.dtype(), kFloat);
  EXPECT_LE(apart(recorded, first), 1e-5);
}

// A tensor with two uses gets the sum of both gradients.
TEST_F(AutocastGradients, OfTwoUsesAddUp) {
  for (const ScalarType dtype : kLow) {
    const Tensor x = randn({6, 16}).cuda().requires_grad_(),
                 w = randn({8, 16}).cuda().requires_grad_();
    const auto loss = [&](const Tensor& a, const Tensor& b) {
      const Tensor y = layer_norm(a, {16});
      return linear(y, b).sum() + (y * y * y).sum() + mm(y, b.t()).sum();
    };
    {
      const amp::autocast guard(kCUDA, dtype);
      loss(x, w).backward();
    }
    const Tensor a = wide(x).requires_grad_(), b = wide(w).requires_grad_();
    loss(a, b).backward();
    EXPECT_LE(apart(x.grad(), a.grad()), dtype == kHalf ? 0x1p-8 : 0x1p-5);
    EXPECT_LE(apart(w.grad(), b.grad()), dtype == kHalf ? 0x1p-8 : 0x1p-5);
  }
}

// A rounding that a program asks for is one for gradients, too: as in PyTorch.
TEST_F(AutocastGradients, OfATensorThatIsConvertedAreRoundedAsItIs) {
  for (const Device device : {Device(kCPU), Device(kCUDA)}) {
    const Tensor x = tensor({1.0f, 2.0f}).to(device).requires_grad_();
    const Tensor factor = tensor({1.00390625f, 3.0009765625f}).to(device);
    (x.to(kBFloat16).to(kFloat) * factor).sum().backward();
    EXPECT_TRUE(x.grad().equal(factor.to(kBFloat16).to(kFloat)));
    // Float32 gradients of float64 tensors lose nothing.
    const Tensor d = randn({4, 8}, kDouble).to(device).requires_grad_(),
                 e = d.detach().requires_grad_(), g = randn({4, 8}).to(device);
    (layer_norm(d, {8}).to(kFloat) * g).sum().backward();
    (layer_norm(e, {8}) * g.to(kDouble)).sum().backward();
    EXPECT_LE(apart(d.grad(), e.grad()), 1e-5);
  }
}

// The sum of a residual connection, without a conversion of its own.
TEST_F(AutocastGradients, SumsOfFloatAndHalfTypesAreRoundedOnce) {
  for (const ScalarType dtype : kLow)
    for (const int64_t n : {1, 8, 100, 4099}) {
      const Tensor x = randn({n + 1}), y = randn({n + 1}).to(dtype);
      for (const int64_t from : {0, 1}) {
        const auto part = [&](const Tensor& t) { return t.cuda().narrow(0, from, n); };
        const Tensor expected = (x + y.to(kFloat)).narrow(0, from, n);
        EXPECT_TRUE((part(x) + part(y)).cpu().equal(expected));
        EXPECT_TRUE((part(y) + part(x)).cpu().equal(expected));
        EXPECT_TRUE(
            (part(x) + y.cuda()[from]).cpu().equal(x.narrow(0, from, n) + y[from].to(kFloat)));
      }
    }
}

}  // namespace
}  // namespace gradus
