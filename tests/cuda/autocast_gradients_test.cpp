// Gradients under autocast on a GPU: which ones need no conversion, and that hooks, sums and grad()
// see those of PyTorch's types.
#include <functional>
#include <memory>

#include "gradus/cuda/graphed.h"
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

template <class F>
int64_t launches_of(F f) {
  const int64_t before = cuda::stats().kernel_launches;
  f();
  return cuda::stats().kernel_launches - before;
}

// In each of the ways in which the gradient of a weight is made.
TEST_F(AutocastGradients, OfConvolutionsAreFloat32WithoutAConversion) {
  struct Case {
    int64_t channels, filters, size, kernel, groups;
    bool transposed = false;
  };
  for (const auto& [channels, filters, size, kernel, groups, transposed] :
       {Case{64, 64, 9, 3, 1}, Case{16, 96, 12, 1, 1}, Case{3, 5, 9, 3, 1}, Case{32, 32, 8, 3, 32},
        Case{32, 16, 6, 2, 2}, Case{16, 24, 6, 2, 1, true}})
    for (const MemoryFormat format : {MemoryFormat::ChannelsLast, MemoryFormat::Contiguous}) {
      const auto apply = [&](const Tensor& x, const Tensor& w) {
        return transposed ? conv_transpose2d(x, w, {}, 2) : conv2d(x, w, {}, 1, 0, 1, groups);
      };
      const Tensor x = randn({2, channels, size, size}).to(kBFloat16).cuda().clone(format),
                   w = (transposed ? randn({channels, filters, kernel, kernel})
                                   : randn({filters, channels / groups, kernel, kernel}))
                           .to(kBFloat16);
      const Tensor float_w = w.to(kFloat).cuda().requires_grad_(),
                   half_w = w.cuda().requires_grad_(), double_w = w.to(kDouble).requires_grad_();
      const Tensor y = apply(x, half_w), grad = randn_like(y), exact = apply(wide(x), double_w);
      exact.backward(wide(grad));
      const int64_t of_half = launches_of([&] { y.backward(grad); });
      Tensor z;
      {
        const amp::autocast guard(kCUDA, kBFloat16);
        z = apply(x, float_w);
      }
      EXPECT_LE(launches_of([&] { z.backward(grad); }), of_half) << channels << " " << filters;
      EXPECT_LE(apart(float_w.grad(), double_w.grad()), 1e-5) << channels << " " << filters;
    }
}

// A weight and a bias in place of LayerNorm, which keeps what was learned of them.
struct Affine {
  explicit Affine(int64_t width)
      : weight(randn({width}).cuda().requires_grad_()),
        bias(randn({width}).cuda().requires_grad_()) {}
  Tensor operator()(const Tensor& x) const { return layer_norm(x, {x.size(-1)}, weight, bias); }
  Tensor weight, bias;
};

// The second time the kernel of the normalisation writes what the product reads.
TEST_F(AutocastGradients, AProductTakesTheCopyOfANormalisedTensor) {
  for (const ScalarType dtype : kLow)
    for (const int64_t width : {7, 20, 96})
      for (const bool records : {true, false}) {
        const AutoGradMode mode(records);
        const Affine norm(width);
        const Tensor x = randn({5, width}).cuda().requires_grad_(), w = randn({8, width}).cuda();
        const amp::autocast guard(kCUDA, dtype);
        const Tensor expected = linear(norm(x).to(dtype), w);
        Tensor y, z;
        const auto run = [&] { z = linear(y = norm(x), w); };
        const int64_t first = launches_of(run);
        EXPECT_TRUE(z.equal(expected));
        for (int i = 0; i < 2; ++i) EXPECT_EQ(launches_of(run), first - 1);
        EXPECT_TRUE(z.equal(expected));
        EXPECT_EQ(y.dtype(), kFloat);
        EXPECT_EQ(z.requires_grad(), records);
        // A second product converts by itself.
        EXPECT_TRUE(linear(y, w).equal(expected));
        // Nobody takes one copy, and the next is not made.
        run();
        norm(x), norm(x);
        EXPECT_EQ(launches_of(run), first);
      }
}

// What changes a tensor after its copy was made changes what the product reads.
TEST_F(AutocastGradients, AProductTakesNoCopyOfAnotherState) {
  const NoGradGuard no_grad;
  const Affine norm(16);
  const Tensor x = randn({16, 16}).cuda(), w = randn({8, 16}).cuda();
  const amp::autocast guard(kCUDA, kBFloat16);
  const std::function<Tensor(Tensor)> changes[] = {
      [](Tensor y) { return y.mul_(2); },
      [](Tensor y) { return y[0].zero_(), y; },
      [](Tensor y) { return y.detach().add_(1), y; },
      [](Tensor y) { return y.t_(); },
      [](const Tensor& y) { return y.set_data(y + 1), y; },
      [](const Tensor& y) { return y.t(); },
  };
  for (const auto& change : changes) {
    linear(norm(x), w);
    const Tensor y = norm(x), expected = linear(change(norm(x)).to(kBFloat16), w);
    linear(norm(x), w);
    EXPECT_TRUE(linear(change(norm(x)), w).equal(expected));
  }
  // An operation that returns its operand's memory does not change what others read.
  linear(norm(x), w);
  const Tensor y = norm(x), same = einsum("ij->ij", {y}), expected = linear(y, w);
  same.zero_();
  EXPECT_TRUE(linear(y, w).equal(expected));
  // On another stream the memory of the copy could be used again too early.
  linear(norm(x), w);
  const Tensor here = norm(x);
  cuda::synchronize();
  const cuda::CUDAStreamGuard other(cuda::getStreamFromPool());
  Tensor z;
  const int64_t converts = launches_of([&] { z = linear(here, w); });
  EXPECT_EQ(converts, launches_of([&] { linear(here, w); }));
}

// Sees gradients, and changes none.
struct Sees final : autograd::FunctionPostHook {
  Tensors operator()(const Tensors& outputs, const Tensors&) override { return outputs; }
};

// The kernel of the normalisation's gradient adds what the residual connection sends, and writes
// the sum in the type that the product before it reads.
TEST_F(AutocastGradients, OfAResidualConnectionAreSummedAsTheyAreMade) {
  for (const ScalarType dtype : kLow)
    for (const int64_t width : {7, 20, 96}) {
      const Affine norm(width);
      const Tensor x = randn({3, 5, width}).cuda().requires_grad_(),
                   v = randn({width, width}).cuda().requires_grad_(),
                   w = randn({width, width}).cuda().requires_grad_(),
                   grad = randn({3, 5, width}).cuda();
      const Tensors leaves = {x, v, w, norm.weight, norm.bias};
      const auto step = [&](bool autocasts, bool seen, Tensors& grads) {
        const amp::autocast guard(kCUDA, dtype, autocasts);
        const Tensor sum = x + linear(x, v), y = norm(sum), z = sum + linear(y, w);
        if (seen) y.grad_fn()->add_post_hook(std::make_unique<Sees>());
        for (const Tensor& leaf : leaves) leaf.mutable_grad() = Tensor();
        const int64_t launches = launches_of([&] { z.backward(grad); });
        for (const Tensor& leaf : leaves) grads.push_back(leaf.grad());
        return launches;
      };
      for (const bool autocasts : {true, false}) {
        Tensors got, expected;
        const int64_t apart = step(autocasts, true, expected) - step(autocasts, false, got);
        EXPECT_EQ(apart, autocasts ? 2 : 1) << width;
        for (size_t i = 0; i < leaves.size(); ++i) EXPECT_TRUE(got[i].equal(expected[i])) << i;
      }
    }
}

// Who computes the gradient of a large result of a layer adds up its columns, too: that is the
// gradient of the bias, for which nobody reads it once more.
TEST_F(AutocastGradients, OfBiasesComeWithThoseOfLargeResults) {
  const int64_t rows = 8192, width = 256;  // kLargeMatrix elements
  const Affine norm(width);
  const auto residual = [&](const Tensor& x, const Tensor& h) {
    if (h.is_cuda()) return norm(x + h);
    return layer_norm(wide(x) + h, {width}, wide(norm.weight), wide(norm.bias));
  };
  using User = std::function<Tensor(const Tensor&, const Tensor&)>;
  const std::pair<ScalarType, User> users[] = {
      {kHalf, [](const Tensor&, const Tensor& h) { return silu(h); }},
      {kBFloat16, [](const Tensor&, const Tensor& h) { return gelu(h); }},
      {kBFloat16, residual}};
  for (const auto& [dtype, user] : users) {
    const Tensor z = randn({4, rows / 4, 8}), w = randn({width, 8}).cuda().requires_grad_(),
                 b = randn({width}).cuda().requires_grad_(), grad = randn({4, rows / 4, width}),
                 x = randn({4, rows / 4, width}).cuda();
    const auto gradients = [&, dtype = dtype, &user = user](Device device, bool seen, bool hooked,
                                                            Tensors& grads) {
      const auto there = [&](const Tensor& t) {
        return device.is_cuda() ? t.cuda() : wide(t).requires_grad_(t.requires_grad());
      };
      const amp::autocast guard(kCUDA, dtype, device.is_cuda());
      const Tensor weight = there(w), bias = there(b), h = linear(there(z), weight, bias);
      if (hooked) h.register_hook([](const Tensor& g) { return g * 1; });
      const Tensor y = user(x, h);
      if (seen) y.grad_fn()->add_post_hook(std::make_unique<Sees>());
      for (const Tensor& leaf : {weight, bias, norm.weight, norm.bias})
        Tensor(leaf).mutable_grad() = Tensor();
      const Tensor of_y = there(grad).to(y.dtype());
      const int64_t launches = launches_of([&] { y.backward(of_y); });
      grads = {weight.grad(), bias.grad()};
      return launches;
    };
    Tensors exact, separate, got, hooked;
    gradients(kCPU, false, false, exact);
    const int64_t before = gradients(kCUDA, true, false, separate),
                  now = gradients(kCUDA, false, false, got);
    EXPECT_EQ(before - now, 1);  // the pass over the columns
    gradients(kCUDA, false, true, hooked);  // of another tensor than the one that came
    for (const Tensors& all : {separate, got, hooked})
      for (size_t i = 0; i < all.size(); ++i)
        EXPECT_LE(apart(all[i], exact[i]), dtype == kHalf ? 0x1p-8 : 0x1p-5) << i;
    if (kSimulated) break;  // each takes a minute there
  }
}

// A hook that sees or changes the sum sees all of it, and the product reads what it gives.
TEST_F(AutocastGradients, OfAResidualConnectionAreSeenWhole) {
  const Affine norm(16);
  const Tensor x = randn({6, 16}).cuda().requires_grad_(), v = randn({16, 16}).cuda(),
               w = randn({16, 16}).cuda(), grad = randn({6, 16}).cuda();
  const auto of_x = [&](bool whole, const std::function<Tensor(const Tensor&)>& hook) {
    const amp::autocast guard(kCUDA, kBFloat16);
    const Tensor sum = x + linear(x, v), y = norm(sum), z = sum + linear(y, w);
    if (!whole) y.grad_fn()->add_post_hook(std::make_unique<Sees>());
    sum.register_hook(hook);
    return autograd::grad({z}, {x, sum, norm.weight, norm.bias}, {grad});
  };
  const std::function<Tensor(const Tensor&)> hooks[] = {
      [](const Tensor& g) { return g * 2; },
      [](const Tensor& g) { return g.mul_(3), Tensor(); },
      [](const Tensor& g) { return g; },
  };
  for (const auto& hook : hooks) {
    const Tensors got = of_x(true, hook), expected = of_x(false, hook);
    EXPECT_TRUE(got[0].equal(expected[0]) && got[1].equal(expected[1]));
  }
}

// A normalisation with two uses, as behind a residual connection, adds a half type as it is.
TEST_F(AutocastGradients, OfANormalisedTensorWithTwoUsesAreAddedAsTheyAre) {
  for (const ScalarType dtype : kLow) {
    const Affine norm(16);
    const Tensor x = randn({6, 16}).cuda().requires_grad_(), w = randn({16, 16}).cuda(),
                 grad = randn({6, 16}).cuda();
    const amp::autocast guard(kCUDA, dtype);
    const Tensor y = norm(x), low = y.to(dtype), z = linear(low, w), sum = y + z;
    const Tensors grads = autograd::grad({sum}, {y, low}, {grad}, true);
    EXPECT_EQ(grads[1].dtype(), dtype);
    EXPECT_TRUE(grads[0].equal(grad + grads[1].to(kFloat)));
    EXPECT_EQ(grads[0].dtype(), kFloat);
  }
}

// A captured step gives the bits of an eager one, whose first steps know nothing of copies.
TEST_F(AutocastGradients, OfACapturedStepAreThoseOfAnEagerOne) {
  const auto losses = [](bool captured) {
    manual_seed(3);
    Block first(20, kCUDA, kFloat), second(20, kCUDA, kFloat);
    Tensors parameters = first.parameters();
    for (const Tensor& p : second.parameters()) parameters.push_back(p);
    optim::SGD optimizer(parameters, optim::SGDOptions(0.5));
    const auto step = [&](const Tensor& x) {
      optimizer.zero_grad();
      Tensor loss;
      {
        const amp::autocast guard(kCUDA, kBFloat16);
        loss = second(first(x)).square().mean();
      }
      loss.backward();
      optimizer.step();
      return loss;
    };
    const Tensor x = randn({3, 5, 20}).cuda();
    Tensors out;
    const auto run = [&](auto&& f) {
      for (int i = 0; i < 6; ++i) out.push_back(f(x).detach().clone());
    };
    captured ? run(cuda::make_graphed(step, x)) : run(step);
    return stack(out);
  };
  EXPECT_TRUE(losses(true).equal(losses(false)));
}

// Each parameter of a normalisation gets the memory that its gradient was computed in.
TEST_F(AutocastGradients, OfANormalisationsParametersAreNotCopied) {
  const Affine norm(20);
  const Tensor x = randn({6, 20}).cuda().requires_grad_(), y = norm(x),
               grad = randn({6, 20}).cuda();
  EXPECT_EQ(launches_of([&] { y.backward(grad); }), 2);  // the rows, and the sums of their lines
  const Tensor a = norm.weight.grad(), b = norm.bias.grad();
  EXPECT_NE(a.storage().data(), b.storage().data());
  EXPECT_EQ(a.sizes(), norm.weight.sizes());
}

}  // namespace
}  // namespace gradus
