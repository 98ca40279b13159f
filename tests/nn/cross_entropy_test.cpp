// Cross entropy in one pass over rows of logits against its plain twin, nll_loss of log_softmax.
#include "gradus/autograd/engine/node.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace F = nn::functional;
using Options = nn::CrossEntropyLossOptions;

// Classes that are not the last dimension are no rows.
Tensor twin(const Tensor& x, const Tensor& target, const Options& options) {
  const Tensor loss = F::cross_entropy(x.unsqueeze(2), target.unsqueeze(1), options);
  return loss.dim() == 0 ? loss : loss.squeeze(1);
}

Tensor random_target(int64_t rows, int64_t classes) {
  const Tensor target = randint(classes, {rows}, kLong);
  target[0].fill_(classes - 1);
  return target;
}

std::vector<std::pair<const char*, Options>> option_sets(int64_t classes) {
  const Tensor weight = rand({classes}, kDouble) + 0.25;
  const int64_t ignored = randint(classes, {1}, kLong).item<int64_t>();
  return {{"plain", Options()},
          {"ignored", Options().ignore_index(ignored)},
          {"weighted", Options().weight(weight).ignore_index(ignored)},
          {"smooth", Options().label_smoothing(0.3).ignore_index(ignored)}};
}

// The rows of x in float64 and by the twin, and as they are on both devices.
void compare(const Tensor& x, const Tensor& target, const Options& options, double tolerance,
             const std::string& what) {
  const Tensor factors = rand({x.size(0)}, kDouble) + 0.5;  // of the losses
  const auto run = [&](auto f, Tensor logits, Device device) {
    Options own = options;
    if (own.weight().defined()) own.weight(own.weight().to(device, logits.scalar_type()));
    logits = logits.detach().requires_grad_();
    const Tensor loss = f(logits, target.to(device), own);
    (loss.dim() == 0 ? loss : loss * factors.to(device)).sum().backward();
    return std::pair(loss.detach().to(Device(kCPU), kDouble),
                     logits.grad().to(Device(kCPU), kDouble));
  };
  const auto fused = [](const Tensor& a, const Tensor& b, const Options& o) {
    return F::cross_entropy(a, b, o);
  };
  const auto expected = run(twin, x.to(kDouble), Device(kCPU));
  for (const DeviceType type : {kCPU, kCUDA}) {
    if (type == kCUDA && !cuda::is_available()) continue;
    // A layout of its own survives only where it is made on the device.
    const Tensor there = type == kCPU
                             ? x
                             : empty_strided(x.sizes(), x.strides(), x.options().device(type))
                                   .copy_(x.expand(x.sizes()));
    const auto got = run(fused, there, Device(type));
    EXPECT_TRUE(allclose(got.first, expected.first, tolerance, tolerance, true))
        << what << " on " << Device(type) << ": " << got.first << " is not " << expected.first;
    EXPECT_TRUE(allclose(got.second, expected.second, tolerance, tolerance, true))
        << what << ", gradient on " << Device(type);
  }
}

// Lengths about those at which kernels and loops change their ways.
TEST(CrossEntropy, IsThatOfLogSoftmaxForEveryLength) {
  for (const int64_t n : {1, 2, 5, 31, 64, 100, 513, 1024, 1025, 1100, 2052, 9001}) {
    const int64_t rows = n > 2000 ? 3 : 21;
    const Tensor target = random_target(rows, n);
    for (const auto& [name, options] : option_sets(n))
      for (const ScalarType dtype : {kFloat, kDouble, kHalf}) {
        const Reduction reduction = n % 2 ? kMean : kNone;
        Options own = options;
        const double tolerance = dtype == kDouble ? 1e-12 : dtype == kFloat ? 2e-5 : 4e-3;
        compare((randn({rows, n}, kDouble) * 4).to(dtype), target, own.reduction(reduction),
                tolerance, std::string(name) + ", " + std::to_string(n) + " classes");
      }
  }
}

TEST(CrossEntropy, TakesRowsOfAnyLayout) {
  const int64_t n = 1111;
  const Tensor target = random_target(6, n);
  const Tensor wide = randn({6, n + 3}), tall = randn({n, 6}), row = randn({1, n});
  for (const auto& [name, options] : option_sets(n)) {
    compare(wide.narrow(1, 3, n), target, options, 2e-5, "parts of rows");
    compare(wide.narrow(1, 1, n), target, options, 2e-5, "parts of rows at odd places");
    compare(tall.t(), target, options, 2e-5, "columns");
  }
  const Tensor same = row.clone().requires_grad_(), apart = row.clone().requires_grad_();
  F::cross_entropy(same.expand({6, n}), target).backward();
  twin(apart.expand({6, n}), target, {}).backward();
  EXPECT_TRUE(allclose(same.grad(), apart.grad(), 1e-5, 1e-7));
}

// A GPU reads logits of 16 bits as they are; the loss is that of their float32 copy, and so is the
// gradient, rounded once. Rows of a large one begin at multiples of 16 bytes.
TEST(CrossEntropy, UnderAutocastReadsHalvesAsTheyAre) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  for (const ScalarType dtype : {kHalf, kBFloat16})
    for (const auto& [rows, n] : {std::pair<int64_t, int64_t>{5, 100}, {21, 50257}}) {
      const Tensor target = random_target(rows, n).to(kCUDA);
      const Tensor x = (randn({rows, n}) * 4).to(dtype).to(kCUDA).requires_grad_();
      const Tensor wide = x.detach().to(kFloat).requires_grad_();
      Tensor loss;
      {
        const amp::autocast guard(kCUDA, dtype);
        loss = F::cross_entropy(x, target);
      }
      EXPECT_EQ(loss.dtype(), kFloat);
      Tensor seen;
      x.register_hook([&](const Tensor& grad) { seen = grad; });
      loss.backward();
      const Tensor expected = F::cross_entropy(wide, target);
      expected.backward();
      EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-5);
      EXPECT_EQ(seen.dtype(), dtype);
      EXPECT_EQ(seen.stride(0), rows * n < 1 << 20 ? n : (n + 7) / 8 * 8);
      EXPECT_TRUE(allclose(seen.to(kFloat), wide.grad(), dtype == kHalf ? 0x1p-10 : 0x1p-7, 1e-7));
    }
}

TEST(CrossEntropy, OfHalvesHasASecondDerivative) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const Tensor x = randn({3, 5}), target = tensor({0, 4, 2});
  const auto second = [&](const Tensor& logits) {
    const Tensor loss = F::cross_entropy(logits, target.to(logits.device()));
    const Tensor grad = autograd::grad({loss}, {logits}, {}, true, true)[0];
    return autograd::grad({(grad * grad).sum()}, {logits})[0].to(kCPU, kFloat);
  };
  const Tensor got = second(x.to(kCUDA, kHalf).detach().requires_grad_());
  EXPECT_TRUE(allclose(got, second(x.to(kHalf).to(kFloat).requires_grad_()), 0.02, 1e-3)) << got;
}

TEST(CrossEntropy, KeepsItsDigitsForLargeLogits) {
  const Tensor x = tensor({{1000.0f, 989.0f, 0.0f}, {-1000.0f, 0.0f, -1000.0f}}).requires_grad_();
  for (const DeviceType type : {kCPU, kCUDA}) {
    if (type == kCUDA && !cuda::is_available()) continue;
    x.mutable_grad() = Tensor();
    const Tensor losses =
        F::cross_entropy(x.to(type), tensor({0, 0}).to(type), Options().reduction(kNone));
    const double rare = std::exp(-11.0);
    // A float holds 1 + rare with a step of 6e-8.
    expect_values(losses[0] * 1e5, {1e5 * std::log1p(rare)}, 5e-3);
    expect_values(losses[1], {1000});
    losses.sum().backward();
    expect_values(x.grad()[0] * 1e5, {-1e5 * rare, 1e5 * rare, 0}, 1e-2);
    expect_values(x.grad()[1], {-1, 1, 0});
  }
}

TEST(CrossEntropy, RowsThatAreNotFiniteAreAsForLogSoftmax) {
  const float inf = INFINITY, nan = NAN;
  const Tensor x = tensor({{inf, 0.0f}, {-inf, 0.0f}, {-inf, -inf}, {0.0f, nan}});
  for (const double smoothing : {0.0, 0.5})
    compare(x, tensor({0, 1, 0, 1}), Options().reduction(kNone).label_smoothing(smoothing), 1e-6,
            "rows with infinities");
}

TEST(CrossEntropy, ARowToBeIgnoredMayHoldAnything) {
  const Tensor x = tensor({{0.0f, NAN}, {0.0f, 0.0f}});
  for (const DeviceType type : {kCPU, kCUDA}) {
    if (type == kCUDA && !cuda::is_available()) continue;
    const Tensor leaf = x.to(type).detach().requires_grad_();
    const Tensor loss = F::cross_entropy(leaf, tensor({-100, 1}).to(type));
    expect_values(loss, {std::log(2)});
    loss.backward();
    expect_values(leaf.grad(), {0, 0, 0.5, -0.5});
  }
}

TEST(CrossEntropy, IsOneNodeAndNamesAWrongClass) {
  const Tensor x = randn({3, 4}).requires_grad_();
  const Tensor losses = F::cross_entropy(x, tensor({0, 1, 2}), Options().reduction(kNone));
  EXPECT_EQ(losses.grad_fn()->name(), "CrossEntropyLossBackward0");
  expect_error<IndexError>(
      [&] {
        F::cross_entropy(x, tensor({0, 4, 2}));
      },
      "cross_entropy: index 4 is out of bounds for dimension 1 with size 4");
  if (!cuda::is_available()) return;
  expect_error<IndexError>(
      [&] {
        F::cross_entropy(x.to(kCUDA), tensor({0, -1, 2}).to(kCUDA)).item<float>();
      },
      "cross_entropy: index -1 is out of bounds for dimension 1 with size 4");
}

}  // namespace
}  // namespace gradus
