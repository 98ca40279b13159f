// fuse() of products of half types and under autocast: eager values, gradients and dtypes, in the
// kernels that are expected, with the weights that autocast keeps.
#include "gradus/autograd/tools/fuse.h"

#include <cmath>

#include "gradus/cuda/cuda.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace state = gradus::autocast;

// A function, the shapes of its arguments, and how many kernels it is. A CPU, which multiplies half
// types in float32, converts each factor.
struct HalfChain {
  const char* name;
  std::function<Tensor(const Tensors&)> f;
  std::vector<std::vector<int64_t>> shapes;
  int on_cuda, on_cpu;
};

constexpr int64_t kRows = 6, kWidth = 16;

// The block of a GPT without its attention.
Tensor mlp(const Tensors& x) {
  const Tensor hidden = gelu(linear(layer_norm(x[0], {kWidth}, x[1], x[2]), x[3], x[4]), "tanh");
  return x[0] + linear(hidden, x[5], x[6]);
}

std::vector<HalfChain> half_chains() {
  return {
      {"product",
       [](const Tensors& x) { return x[0].matmul(x[1]); },
       {{2, kRows, kWidth}, {kWidth, 3}},
       0,
       3},
      {"linear",
       [](const Tensors& x) { return gelu(linear(layer_norm(x[0], {kWidth}), x[1], x[2])) + x[0]; },
       {{2, kRows, kWidth}, {kWidth, kWidth}, {kWidth}},
       2,
       4},
      {"mlp",
       mlp,
       {{2, kRows, kWidth},
        {kWidth},
        {kWidth},
        {4 * kWidth, kWidth},
        {4 * kWidth},
        {kWidth, 4 * kWidth},
        {kWidth}},
       3,
       7},
  };
}

HalfChain chain_of(std::string_view name) {
  for (const HalfChain& chain : half_chains())
    if (name == chain.name) return chain;
  return {};
}

auto fused_of(const HalfChain& chain) {
  return fuse([f = chain.f](const auto&... x) { return f({x...}); });
}
template <class F>
Tensor call(const F& f, const Tensors& x) {
  return x.size() == 2   ? f(x[0], x[1])
         : x.size() == 3 ? f(x[0], x[1], x[2])
                         : f(x[0], x[1], x[2], x[3], x[4], x[5], x[6]);
}
Tensors arguments_of(const HalfChain& chain, Device device, ScalarType type) {
  Tensors x;
  for (const auto& shape : chain.shapes)
    x.push_back((randn(shape) / (shape.size() == 2 ? 4 : 1)).to(device, type).requires_grad_());
  return x;
}
int kernels_in(const std::string& source) {
  int out = 0;
  for (size_t at = 0; (at = source.find("__global__", at)) != std::string::npos; ++at) ++out;
  return out;
}
// The distance of neighbours of 1.
double ulp(ScalarType type) {
  return std::ldexp(1, type == kHalf ? -10 : type == kBFloat16 ? -7 : -23);
}

void expect_near(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.sizes(), want.sizes());
  ASSERT_EQ(got.dtype(), want.dtype());
  expect_values(got, to_vector(want), tolerance);
}

// Whether the numbers are of the half type: a GPU gives the gradient of a float32 weight as it adds
// it up.
bool is_rounded(const Tensor& x, ScalarType type) { return equal(x.to(type).to(x.dtype()), x); }

// Values within two units of the last place of the half type, of 1 or of what is greater. Gradients
// within four, of the largest one of an argument. The loss is scaled, as by a GradScaler.
TEST(FuseHalf, GivesTheValuesAndGradientsOfTheFunction) {
  for (const Device device : cpu_and_cuda())
    for (const HalfChain& chain : half_chains())
      for (const ScalarType type : {kHalf, kBFloat16})
        for (const bool casts : {false, true}) {
          // Each text that a simulated device compiles takes a second.
          const bool in_full = std::string_view(chain.name) == "mlp";
          if (device.is_cuda() && type == kHalf && !in_full) continue;
          SCOPED_TRACE(testing::Message() << chain.name << " " << device << " " << type << casts);
          manual_seed(5);
          const Tensors x = arguments_of(chain, device, casts ? kFloat : type);
          const auto fused = fused_of(chain);
          Tensor want, got;
          {
            const amp::autocast guard(device.type(), type, casts);
            want = chain.f(x), got = call(fused, x);
            const NoGradGuard no_grad;
            const auto alone = fused_of(chain);
            expect_near(call(alone, x), want, 2 * ulp(type));
            EXPECT_EQ(kernels_in(alone.source()), device.is_cuda() ? chain.on_cuda : chain.on_cpu);
          }
          EXPECT_EQ(fused.why_not(), "");
          expect_near(got, want, 2 * ulp(type));
          const Tensor weights = rand(want.sizes()).to(device) * 64;
          const auto gradients = [&](const Tensor& y) {
            const Tensor loss = (y * weights).sum();
            const Tensors of_grad = autograd::grad({loss}, x, {}, true);
            loss.backward();
            Tensors out;
            for (size_t i = 0; i < x.size(); ++i) {
              out.push_back(std::exchange(x[i].mutable_grad(), Tensor()));
              EXPECT_TRUE(equal(of_grad[i], out[i])) << i;
            }
            return out;
          };
          const Tensors wanted = gradients(want), grads = gradients(got);
          for (size_t i = 0; i < x.size(); ++i) {
            SCOPED_TRACE(i);
            const double largest = wanted[i].abs().max().to(kFloat).item<double>();
            expect_near(grads[i] / largest, wanted[i] / largest, 4 * ulp(type));
            EXPECT_EQ(is_rounded(grads[i], type), is_rounded(wanted[i], type));
          }
        }
}

// The operands of products come from the forward pass, which stored them; sums over rows read half
// types as they are.
TEST(FuseHalf, ComputesNoOperandOfAProductAgain) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  for (const auto& [name, kernels] :
       {std::pair{"product", 0}, std::pair{"linear", 4}, std::pair{"mlp", 6}}) {
    const auto fused = fused_of(chain_of(name));
    call(fused, arguments_of(chain_of(name), kCUDA, kBFloat16));
    EXPECT_EQ(kernels_in(fused.source()), kernels) << name << fused.why_not();
  }
}

// Those of one launch for all weights that the scope before has converted; and none where the
// function itself, called unfused, has converted them.
TEST(FuseHalf, ReadsTheWeightsThatAutocastKeeps) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const HalfChain chain = chain_of("mlp");
  Tensors x = arguments_of(chain, kCUDA, kFloat);
  x[0] = x[0].detach();
  const auto fused = fused_of(chain);
  const auto launches = [&] {
    const auto before = cuda::stats().kernel_launches;
    call(fused, x);
    return cuda::stats().kernel_launches - before;
  };
  for (int scope = 0; scope < 3; ++scope) {
    const amp::autocast guard(kCUDA, kBFloat16);
    if (scope == 2) chain.f(x);
    // Those of cuBLAS count as none.
    const auto first = launches(), again = launches();
    EXPECT_EQ(first - again, scope == 0 ? 4 : scope == 1 ? 1 : 0) << scope;
    EXPECT_EQ(launches(), again) << scope;
  }
}

TEST(FuseHalf, ReadsAWeightThatHasChanged) {
  for (const Device device : cpu_and_cuda()) {
    const HalfChain chain = chain_of("linear");
    const Tensors x = arguments_of(chain, device, kFloat);
    const auto fused = fused_of(chain);
    const amp::autocast guard(device.type(), kBFloat16);
    call(fused, x);
    {
      const NoGradGuard no_grad;
      Tensor(x[1]).mul_(-2);
    }
    expect_near(call(fused, x), chain.f(x), 2 * ulp(kBFloat16));
  }
}

// The product for the weight adds up the bias's gradient. A leaf gets its gradient without a copy.
TEST(FuseHalf, LaunchesWhatALinearLayerDoes) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const auto f = [](const Tensor& x, const Tensor& w, const Tensor& b) { return linear(x, w, b); };
  const auto fused = fuse(f);
  for (const ScalarType type : {kFloat, kBFloat16}) {
    const auto one = [&](const std::vector<int64_t>& shape) {
      return randn(shape).to(kCUDA, type).requires_grad_();
    };
    const Tensors x = {one({2, 20, 32}), one({48, 32}), one({48})};
    const auto launches = [&](const auto& layer) {
      const Tensor y = layer(x[0], x[1], x[2]), weights = ones_like(y);
      const auto before = cuda::stats().kernel_launches;
      y.backward(weights);
      const auto after = cuda::stats().kernel_launches;
      for (const Tensor& each : x) each.mutable_grad() = Tensor();
      return after - before;
    };
    EXPECT_EQ(launches(fused), launches(f)) << type;
  }
}

// There is a trace for each dtype of autocast, and one without it.
TEST(FuseHalf, ObeysTheScopeItIsCalledIn) {
  const auto f = [](const Tensor& x, const Tensor& w) { return linear(x * 2, w).relu(); };
  for (const Device device : cpu_and_cuda()) {
    const auto fused = fuse(f);
    const Tensor x = randn({4, 8}).to(device), w = randn({8, 8}).to(device).requires_grad_();
    const auto expect = [&](ScalarType dtype) {
      const Tensor got = fused(x, w), want = f(x, w);
      EXPECT_EQ(got.dtype(), dtype);
      expect_near(got, want, 2 * ulp(dtype));
      EXPECT_EQ(fused.why_not(), "");
    };
    std::string source;
    for (int round = 0; round < 2; ++round) {
      {
        const amp::autocast outer(device.type(), kHalf);
        expect(kHalf);
        {
          const amp::autocast off(device.type(), std::nullopt, false);
          expect(kFloat);
          const amp::autocast inner(device.type(), kBFloat16, true, /*cache_enabled=*/false);
          expect(kBFloat16);
        }
        expect(kHalf);
      }
      expect(kFloat);
      if (round == 0) source = fused.source();
    }
    EXPECT_EQ(fused.source(), source);
    const amp::autocast other(device.is_cuda() ? kCPU : kCUDA, kHalf);
    expect(kFloat);
  }
}

// A scope within the function holds for what it computes, and leaves nothing behind.
TEST(FuseHalf, TracesTheScopesOfTheFunction) {
  for (const Device device : cpu_and_cuda())
    for (const bool outer : {false, true}) {
      SCOPED_TRACE(testing::Message() << device << outer);
      std::weak_ptr<TensorImpl> traced;
      const auto f = [&, type = device.type()](const Tensor& x, const Tensor& w) {
        if (w.is_meta()) traced = w.impl_ptr();
        const amp::autocast guard(type, kHalf, true, /*cache_enabled=*/true);
        const Tensor hidden = linear(x, w);
        const amp::autocast off(type, std::nullopt, false);
        return linear(hidden.to(kFloat) * 0.5, w) + x;
      };
      const auto fused = fuse(f);
      const Tensor x = randn({4, 8}).to(device), w = randn({8, 8}).to(device).requires_grad_();
      Tensor got, want;
      {
        const amp::autocast guard(device.type(), kBFloat16, outer);
        got = fused(x, w), want = f(x, w);
        EXPECT_TRUE(traced.expired());
      }
      EXPECT_EQ(fused.why_not(), "");
      EXPECT_FALSE(state::is_autocast_enabled(device.type()));
      // The second product is of float32, of what the first has rounded to float16.
      expect_near(got, want, 2 * ulp(kHalf));
      expect_near(autograd::grad({got.sum()}, {w})[0], autograd::grad({want.sum()}, {w})[0],
                  8 * ulp(kHalf));
    }
}

// The second derivative runs the function again, when its scope has ended.
TEST(FuseHalf, HasSecondDerivativesUnderAutocast) {
  for (const Device device : cpu_and_cuda()) {
    const auto f = [](const Tensor& x, const Tensor& w) { return linear(x * 2, w).tanh(); };
    const auto fused = fuse(f);
    const Tensor x = randn({4, 8}).to(device).requires_grad_(),
                 w = (randn({8, 8}) / 4).to(device).requires_grad_();
    Tensor got, want;
    {
      const amp::autocast guard(device.type(), kHalf);
      got = fused(x, w), want = f(x, w);
    }
    const auto second = [&](const Tensor& y) {
      const Tensor first = autograd::grad({y.to(kFloat).sum()}, {x}, {}, std::nullopt, true)[0];
      EXPECT_TRUE(is_rounded(first.detach(), kHalf)) << "it was computed in float32";
      return autograd::grad({first.square().sum()}, {w})[0];
    };
    const Tensor of_got = second(got), of_want = second(want);
    const double largest = of_want.abs().max().item<double>();
    expect_near(of_got / largest, of_want / largest, 8 * ulp(kHalf));
  }
}

}  // namespace
}  // namespace gradus
