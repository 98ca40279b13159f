// NanGuard on GPUs: operations wait for one search, and what a later operation hides is named all
// the same.
#include "gradus/watch/guard/nan_guard.h"

#include "gradus/cuda/runtime/stats.h"
#include "tests/support.h"
#include "tests/watch/guarded.h"

namespace guarded {

struct FollowingCase {
  const char* name;
  Tensor (*f)(const Tensor& x);  // x is (2, 2), and has -infinity and numbers below 0
};
// Functions that may make finite numbers of NaN and infinities, or leave elements out.
const std::vector<FollowingCase> hiding{
    {"relu", [](const Tensor& x) { return x.relu(); }},
    {"exp", [](const Tensor& x) { return x.exp(); }},
    {"1 / x", [](const Tensor& x) { return x.reciprocal(); }},
    {"1 over x", [](const Tensor& x) { return ones_like(x) / x; }},
    {"tanh", [](const Tensor& x) { return x.tanh(); }},
    {"sigmoid", [](const Tensor& x) { return x.sigmoid(); }},
    {"clamp", [](const Tensor& x) { return x.clamp(-1, 1); }},
    {"amax", [](const Tensor& x) { return x.amax(1); }},
    {"maximum", [](const Tensor& x) { return maximum(x, zeros_like(x)); }},
    {"where", [](const Tensor& x) { return where(x > -9, x, zeros_like(x)); }},
    {"masked_fill", [](const Tensor& x) { return x.masked_fill(x < -9, 0); }},
    {"greater", [](const Tensor& x) { return x > 0; }},
    {"softmax", [](const Tensor& x) { return softmax(x, 1); }},
    {"cross entropy",
     [](const Tensor& x) {
       return nn::functional::cross_entropy(x, ones({2}, x.options().dtype(kLong)));
     }},
    {"attention",
     [](const Tensor& x) {
       const Tensor v = ones({1, 1, 2, 2}, x.options());
       return scaled_dot_product_attention(v, x.view({1, 1, 2, 2}), v);
     }},
    {"a part", [](const Tensor& x) { return x[1] * 2; }},
    {"a copy to whole numbers", [](const Tensor& x) { return x.clamp(-5, 5).to(kLong); }},
    {"nan_to_num", [](const Tensor& x) { return nan_to_num(x); }}};
// Functions that pass them on, and functions of gradients that do.
const std::vector<FollowingCase> passing{
    {"log", [](const Tensor& x) { return x.log(); }},
    {"sqrt", [](const Tensor& x) { return x.sqrt(); }},
    {"sin", [](const Tensor& x) { return x.sin(); }},
    {"cos", [](const Tensor& x) { return x.cos(); }},
    {"gelu", [](const Tensor& x) { return gelu(x); }},
    {"gelu_tanh", [](const Tensor& x) { return gelu(x, "tanh"); }},
    {"silu", [](const Tensor& x) { return silu(x); }},
    {"square", [](const Tensor& x) { return x.square(); }},
    {"add", [](const Tensor& x) { return x + x.neg(); }},
    {"sub", [](const Tensor& x) { return x - x; }},
    {"mul", [](const Tensor& x) { return x * 0; }},
    {"addcmul", [](const Tensor& x) { return addcmul(ones_like(x), zeros_like(x), x); }},
    {"sum", [](const Tensor& x) { return x.sum(); }},
    {"mean", [](const Tensor& x) { return x.mean(); }},
    {"norm", [](const Tensor& x) { return x.norm(); }},
    {"matmul", [](const Tensor& x) { return x.matmul(zeros_like(x)); }},
    {"matmul from the left", [](const Tensor& x) { return zeros_like(x).matmul(x); }},
    {"layer norm", [](const Tensor& x) { return layer_norm(x, {2}); }},
    {"mse_loss", [](const Tensor& x) { return mse_loss(x, zeros_like(x)); }},
    {"half", [](const Tensor& x) { return x.to(kHalf) * 0; }},
    {"bfloat16", [](const Tensor& x) { return gelu(x.to(kBFloat16)); }}};

TEST(NanGuardThatWaits, NamesWhatALaterOperationHides) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  for (const auto* list : {&hiding, &passing})
    for (const FollowingCase& c : *list) {
      SCOPED_TRACE(c.name);
      const Tensor x = row({1, 0, 0.5, 0.25}, kCUDA).view({2, 2});
      const NanReport report = report_of([&] { c.f(x.log()); });
      EXPECT_EQ(report.operation, "log");
      EXPECT_TRUE(report.made);
      EXPECT_EQ(report.infinities, 1);
      EXPECT_EQ(report.first, (std::vector<int64_t>{0, 1}));
    }
}

// What the table of passing functions says, without a guard.
TEST(NanGuardThatWaits, FunctionsThatPassOnMakeNoFiniteNumberOfOthers) {
  for (const DeviceType type : {kCPU, kCUDA}) {
    if (type == kCUDA && !cuda::is_available()) continue;
    for (const double bad : {nan, inf, -inf})
      for (const FollowingCase& c : passing) {
        SCOPED_TRACE(c.name);
        const Tensor x =
            row({1, bad, 0.5, 0.25}, type == kCUDA ? Device(kCUDA, 0) : Device(kCPU)).view({2, 2});
        EXPECT_FALSE(c.f(x).isfinite().all().item<bool>()) << bad;
      }
  }
}

// Functions that are 0 at some places of (4, 4) numbers from 0.25 up to 4, whose gradients need not
// reach these.
const std::vector<FollowingCase> dropping{
    {"relu", [](const Tensor& x) { return (x - 1).relu(); }},
    {"relu6", [](const Tensor& x) { return relu6(x - 1); }},
    {"hardtanh", [](const Tensor& x) { return hardtanh(x - 1, 0, 2); }},
    {"leaky_relu", [](const Tensor& x) { return leaky_relu(x - 1, 0); }},
    {"hardswish", [](const Tensor& x) { return hardswish((x - 1) * 16); }},
    {"hardsigmoid", [](const Tensor& x) { return hardsigmoid(x * 4 - 5); }},
    {"threshold", [](const Tensor& x) { return threshold(x, 1, 0); }},
    {"hardshrink", [](const Tensor& x) { return hardshrink(x, 1); }},
    {"softshrink", [](const Tensor& x) { return softshrink(x, 1); }},
    {"clamp", [](const Tensor& x) { return (x - 1).clamp(0); }},
    {"maximum", [](const Tensor& x) { return maximum(x - 1, zeros_like(x)); }},
    {"where", [](const Tensor& x) { return where(x > 1, x, zeros_like(x)); }},
    {"masked_fill", [](const Tensor& x) { return x.masked_fill(x < 1, 0); }},
    {"tril", [](const Tensor& x) { return x.tril(); }},
    {"pad",
     [](const Tensor& x) {
       return constant_pad_nd(x, {1, 1});
     }},
    {"dropout", [](const Tensor& x) { return dropout(x, 0.5, true); }},
    {"max_pool1d", [](const Tensor& x) { return max_pool1d((x - 3).relu(), 2); }},
    {"amax", [](const Tensor& x) { return (x - 3).relu().amax(1); }},
    {"floor", [](const Tensor& x) { return x.floor(); }},
    {"sign", [](const Tensor& x) { return (x - 1).relu().sign(); }}};

TEST(NanGuardThatWaits, NamesWhatAGradientHides) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  manual_seed(0);
  for (const FollowingCase& c : dropping) {
    SCOPED_TRACE(c.name);
    const Tensor x = arange(1, 17, kFloat).div(4).view({4, 4}).to(kCUDA).set_requires_grad(true);
    ASSERT_TRUE(c.f(x.detach()).eq(0).any().item<bool>());
    const NanReport report = report_of([&] { c.f(x).sqrt().sum().backward(); });
    EXPECT_EQ(report.operation, "sqrt_backward in SqrtBackward0") << report.message;
    EXPECT_TRUE(report.made);
    EXPECT_GT(report.infinities, 0);
  }
}

// A second name for what an operation made is no second place: it is read before it changes.
TEST(NanGuardThatWaits, LooksBeforeMemoryChanges) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const Tensor x = row({1, 0, 4, 9}, kCUDA);
  const std::vector<FollowingCase> changes{
      {"zero_", [](const Tensor& y) { return y.zero_(); }},
      {"fill_ of a view",
       [](const Tensor& y) {
         return y.view({2, 2}).fill_(1);
       }},
      {"copy_", [](const Tensor& y) { return y.copy_(ones_like(y)); }},
      {"copy_ from the CPU", [](const Tensor& y) { return y.copy_(ones({4})); }},
      {"exp_", [](const Tensor& y) { return y.exp_(); }},
      {"random", [](const Tensor& y) { return y.uniform_(); }}};
  for (const FollowingCase& c : changes) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(report_of([&] { c.f(x.log()); }).operation, "log");
  }
}

TEST(NanGuardThatWaits, AddsOneLaunchToAStep) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const nn::Sequential mlp(nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 3));
  mlp->to(kCUDA);
  optim::SGD sgd(mlp->parameters(), 0.1);
  const Tensor x = rand({5, 4}).to(kCUDA), y = zeros({5}, kLong).to(kCUDA);
  const auto launches_of_step = [&] {
    const auto before = cuda::stats().kernel_launches;
    sgd.zero_grad();
    nn::functional::cross_entropy(mlp->forward(x), y).backward();
    sgd.step();
    return cuda::stats().kernel_launches - before;
  };
  launches_of_step();
  const auto without = launches_of_step();
  NanGuard guard;
  launches_of_step();
  EXPECT_EQ(launches_of_step(), without + 1);
  // A parameter that is not finite is still an input of the first operation that reads it.
  {
    const NoGradGuard no_grad;
    (*mlp->parameters().begin())[1].fill_(nan);
  }
  try {
    launches_of_step();
    guard.check();
    ADD_FAILURE() << "nothing was found";
  } catch (const NanError& error) {
    EXPECT_FALSE(error.report().made);
    EXPECT_EQ(error.report().phase, NanReport::Phase::Forward);
  }
}

TEST(NanGuardThatWaits, LooksAtCapturedStepsOfOptimizers) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const Tensor weight = ones({4}, kCUDA).set_requires_grad(true);
  optim::SGD sgd({weight}, optim::SGDOptions(1.0));
  NanGuard guard;
  auto step = cuda::make_graphed(
      [&](const Tensor& x) {
        sgd.zero_grad();
        const Tensor loss = (weight * x).sum();
        loss.backward();
        sgd.step();
        return loss;
      },
      zeros({4}, kCUDA));
  step(zeros({4}, kCUDA)).item<float>();
  const Tensor large = row({0, 3e38, 0, 0}, kCUDA);
  step(large).item<float>();
  try {  // 1 - 3e38 - 3e38
    for (int i = 0; i < 2; ++i) step(large).item<float>();
    ADD_FAILURE() << "nothing was found";
  } catch (const NanError& error) {
    EXPECT_GT(error.report().infinities, 0) << error.what();
    EXPECT_TRUE(error.report().made) << error.what();
  }
}

}  // namespace guarded
