// NanGuard: a NaN that is planted in each part of a training is named, and what is meant is not.
#include "gradus/watch/guard/nan_guard.h"

#include <cmath>
#include <cstdlib>

#include "gradus/autograd/tools/fuse.h"
#include "gradus/watch/profiler/profile.h"
#include "tests/forked.h"
#include "tests/support.h"
#include "tests/watch/guarded.h"

// Frames whose names begin with gradus:: are the library's, and not the program's.
namespace guarded {

using namespace gradus;
using Phase = NanReport::Phase;

struct RootImpl : nn::Cloneable<RootImpl> {
  void reset() override {}
  // An optimized function that ends with a call leaves the stack before it.
  static constexpr int kLine = __LINE__ + 2;
  Tensor forward(const Tensor& x) {
    const Tensor y = x.sqrt();
    return y.defined() ? y : x;
  }
};
GRADUS_MODULE(Root);

struct BlockImpl : nn::Cloneable<BlockImpl> {
  BlockImpl() { reset(); }
  void reset() override {
    proj = register_module("proj", nn::Linear(2, 2));
    root = register_module("root", Root());
    const NoGradGuard guard;
    proj->weight.copy_(eye(2));
    proj->bias.zero_();
  }
  Tensor forward(const Tensor& x) { return root(proj(x)); }
  nn::Linear proj{nullptr};
  Root root{nullptr};
};
GRADUS_MODULE(Block);

struct NetImpl : nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override { blocks = register_module("blocks", nn::Sequential(Block(), Block())); }
  Tensor forward(const Tensor& x) { return blocks(x); }
  nn::Sequential blocks{nullptr};
};
GRADUS_MODULE(Net);

bool has_lines() { return std::system("addr2line --version > /dev/null 2>&1") == 0; }
std::string here(int line) {
  return has_lines() ? ", nan_guard_test.cpp:" + std::to_string(line) : std::string();
}

class NanGuardOn : public OnEachDevice {};

TEST_P(NanGuardOn, NamesModuleOperationLineAndPlace) {
  Net net;
  net->to(device());
  const Tensor x = row({4, 9, 16, -1, 25, -36}, device()).view({3, 2});
  const NanReport report = report_of([&] { net(x); });
  EXPECT_EQ(report.message, "NanGuard: blocks.0.root (Root), sqrt, forward" +
                                here(RootImpl::kLine) + on() +
                                ": 2 of 6 outputs are NaN, first at [1, 1]; inputs are finite, "
                                "largest 36 in float32");
  EXPECT_EQ(report.module, "blocks.0.root (Root)");
  EXPECT_EQ(report.operation, "sqrt");
  EXPECT_EQ(report.phase, Phase::Forward);
  EXPECT_EQ(report.device, device());
  EXPECT_TRUE(report.made);
  EXPECT_EQ(report.nans, 2);
  EXPECT_EQ(report.infinities, 0);
  EXPECT_EQ(report.numel, 6);
  EXPECT_EQ(report.first, (std::vector<int64_t>{1, 1}));
}

TEST_P(NanGuardOn, SeesEveryDtypeLayoutAndKind) {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    SCOPED_TRACE(dtype);
    const auto one_among = [&](int64_t n, double value) {
      const Tensor x = ones({n}, TensorOptions(dtype).device(device()));
      x[n - 1].fill_(value);
      return x;
    };
    NanReport report = report_of([x = one_among(7, 0)] { x.log(); });  // -infinity
    EXPECT_EQ(report.infinities, 1);
    EXPECT_EQ(report.nans, 0);
    EXPECT_EQ(report.first, std::vector<int64_t>{6});
    report = report_of([x = one_among(70001, -1)] { x.log(); });
    EXPECT_EQ(report.nans, 1);
    EXPECT_EQ(report.infinities, 0);
    EXPECT_EQ(report.first, std::vector<int64_t>{70000});
  }
  // Places are those of rows and columns, however the result lies in memory.
  const Tensor x = ones({6, 4}, TensorOptions().device(device()));
  x[5][1].fill_(-1);
  EXPECT_EQ(report_of([&] { x.t().sqrt(); }).first, (std::vector<int64_t>{1, 5}));
  const Tensor out = zeros({6, 8}, TensorOptions().device(device()));
  EXPECT_EQ(report_of([&] { out.slice(1, 0, 8, 2).copy_(x).sqrt_(); }).first,
            (std::vector<int64_t>{5, 1}));
  const Tensor z = complex(ones({3}), tensor({0.0, 1.0, 0.0})).to(device());
  EXPECT_EQ(report_of([&] { z / complex(ones({3}), zeros({3})).mul(0).to(device()); }).first,
            std::vector<int64_t>{0});
  // A NaN comes before an infinity.
  const NanReport both = report_of([&] { row({0, 1, -1, 0}, device()).log(); });
  EXPECT_EQ(both.first, std::vector<int64_t>{2});
  expect_part(both.message, "1 of 4 outputs is NaN and 2 infinite, first at [2]");
}

TEST_P(NanGuardOn, FindsAnOverflowOfAProductInHalf) {
  nn::Linear layer(2, 3);
  layer->to(device(), kHalf);
  {
    const NoGradGuard guard;
    layer->weight.fill_(2);
  }
  const Tensor x = row({6.1e4, 1, 1, 1}, device(), kHalf).view({2, 2});
  const std::string message = report_of([&] { layer(x); }).message;
  // The CPU multiplies in float32 and converts the result.
  expect_part(message, device().is_cuda() ? "NanGuard: Linear, matmul, forward"
                                          : "NanGuard: Linear, copy, forward");
  expect_part(message, "3 of 6 outputs are infinite, first at [0, 0]; inputs are finite, largest ");
  // A copy that overflows makes an infinity, too.
  expect_part(report_of([&] { row({7e4}, device()).to(kHalf); }).message, "copy, forward");
}

TEST_P(NanGuardOn, NamesTheBackwardPass) {
  Net net;
  net->to(device());
  const Tensor x = row({4, 9, 0, 1}, device()).view({2, 2});
  const NanReport report = report_of([&] { net(x).sum().backward(); });
  EXPECT_EQ(report.phase, Phase::Backward);
  EXPECT_EQ(report.module, "blocks.1.root (Root)");
  expect_part(report.message,
              "NanGuard: blocks.1.root (Root), sqrt_backward in SqrtBackward0, backward" +
                  here(RootImpl::kLine) + on() + ": ");
  expect_part(report.message, " of 4 outputs is ");
}

TEST_P(NanGuardOn, NamesTheStepOfAnOptimizer) {
  const Tensor a = ones({3}, TensorOptions().device(device())).set_requires_grad(true),
               b = ones({2, 2}, TensorOptions().device(device())).set_requires_grad(true);
  optim::SGD sgd({a, b}, 1e30);
  a.mutable_grad() = zeros_like(a);
  b.mutable_grad() = row({0, 0, 1e30, 0}, device()).view({2, 2});
  const int line = __LINE__ + 1;
  const NanReport report = report_of([&] { sgd.step(); });
  EXPECT_EQ(report.phase, Phase::Optimizer);
  EXPECT_EQ(report.message, "NanGuard: sgd, optimizer" + here(line) + on() +
                                ": 1 of 7 outputs is infinite, first at [1, 0] of parameter 2 of "
                                "2, of shape [2, 2]; inputs are finite, largest 1e30 in float32");
}

TEST_P(NanGuardOn, SeesLongListsOfParameters) {
  Tensors parameters;
  for (int i = 0; i < 200; ++i) {
    parameters.push_back(ones({3}, TensorOptions().device(device())).set_requires_grad(true));
    parameters.back().mutable_grad() = ones_like(parameters.back());
  }
  optim::Adam adam(parameters, 0.1);
  expect_silence("finite", [&] { adam.step(); });
  parameters[150].mutable_grad()[1].fill_(1e30);  // whose square is infinite
  const NanReport report = report_of([&] { adam.step(); });
  EXPECT_EQ(report.phase, Phase::Optimizer);
  expect_part(report.message, "adam, optimizer");
}

TEST_P(NanGuardOn, LooksIntoFusedChains) {
  auto chain = fuse([](const Tensor& x) { return x.log() * x; });  // 0 * -infinity
  const Tensor good = row({1, 2, 3, 4}, device()), bad = row({1, 2, 0, 4}, device());
  expect_silence("finite", [&] { chain(good); });
  ASSERT_EQ(chain.why_not(), "");
  const NanReport report = report_of([&] { chain(bad); });
  EXPECT_EQ(report.operation, "fused");
  EXPECT_EQ(report.first, std::vector<int64_t>{2});
}

TEST_P(NanGuardOn, NamesTheInputThatHasIt) {
  Net net;
  net->to(device());
  const Tensor x = row({4, nan, 1, 1}, device()).view({2, 2});
  NanReport report = report_of([&] { net(x.clone().reshape({2, 2})); });  // which only move it
  EXPECT_FALSE(report.made);
  EXPECT_EQ(report.module, "blocks.0.proj (Linear)");
  EXPECT_EQ(report.first, (std::vector<int64_t>{0, 1}));
  expect_part(report.message,
              on() +
                  ": input 1, of shape [2, 2], has NaN, first at [0, 1]; no operation that is "
                  "looked at made it: look at the batch and the parameters");
  // What an operation overwrites was an operand.
  report = report_of([&] { x.clone().mul_(2); });
  EXPECT_FALSE(report.made);
}

TEST_P(NanGuardOn, IsSilentOnWhatIsMeant) {
  const auto options = TensorOptions().device(device());
  const Tensor scores = row({1, 2, 3, 4}, device()).view({2, 2}),
               mask = row({0, 1, 0, 0}, device()).view({2, 2}).to(kBool);
  expect_silence("a filled mask", [&] { softmax(scores.masked_fill(mask, -inf), -1); });
  expect_silence("a mask that is added", [&] {
    const Tensor added = full({2, 2}, -inf, options).triu(1);
    log_softmax(scores + added, -1).logsumexp(0);
  });
  expect_silence("a mask from before", [&, before = full({2, 2}, -inf, options).triu(1)] {
    softmax((scores + before) * 2, -1);
  });
  const Tensor q = ones({1, 1, 2, 2}, options);
  expect_silence("attention", [&] {
    scaled_dot_product_attention(q, q, q, logical_not(mask));
    scaled_dot_product_attention(q, q, q, {}, 0.0, /*is_causal=*/true);
    scaled_dot_product_attention(q, q, q, zeros_like(mask));  // without keys
  });
  expect_silence("numbers", [&] {
    scores.clamp(-inf, inf);
    scores + inf;
    where(mask, scores, -inf).exp();
  });
  expect_silence("NaN that is taken away", [&, bad = row({nan, 1}, device())] {
    nan_to_num(bad.clone());
    where(bad.isnan(), zeros_like(bad), bad).sum();
  });
  // A row of which all is masked is NaN.
  const NanReport report = report_of([&] { softmax(full({1, 2}, -inf, options), -1); });
  EXPECT_EQ(report.nans, 2);
  expect_part(report.message, "; inputs have infinities and no NaN");
  EXPECT_EQ(report_of([&] { zeros({2}, options).log(); }).infinities, 2);
}

TEST_P(NanGuardOn, LeavesToAGradScalerWhatItHandles) {
  const auto options = TensorOptions().device(device());
  nn::Linear layer(2, 2);
  layer->to(device());
  {
    const NoGradGuard guard;
    layer->weight.fill_(0.5);
    layer->bias.zero_();
  }
  optim::SGD sgd(layer->parameters(), 0.1);
  amp::GradScaler scaler(amp::GradScalerOptions().init_scale(65536).backoff_factor(1e-3));
  const Tensor x = full({3, 2}, 3.0, options);
  const auto loss = [&] {
    const amp::autocast autocast(device().type(), kHalf);
    return layer(x).to(kFloat).square().sum();
  };
  const Tensor before = layer->weight.detach().clone();
  expect_silence("an overflow of the scaled gradients", [&] {
    sgd.zero_grad();
    scaler.scale(loss()).backward();
    scaler.step(sgd);
    scaler.update();
  });
  EXPECT_LT(scaler.get_scale(), 100);  // there was one
  EXPECT_TRUE(equal(before, layer->weight.detach()));
  expect_silence("a step", [&] {
    sgd.zero_grad();
    scaler.scale(loss()).backward();
    scaler.step(sgd);
    scaler.update();
  });
  EXPECT_FALSE(equal(before, layer->weight.detach()));
  // The forward pass is not scaled.
  const NanReport report = report_of([&] { scaler.scale((loss() * -1).sqrt()).backward(); });
  EXPECT_EQ(report.operation, "sqrt");
}

TEST_P(NanGuardOn, CallsBackOnceAndRestsUntilReset) {
  std::vector<NanReport> reports;
  NanGuard guard([&](const NanReport& report) { reports.push_back(report); });
  const Tensor x = row({-1}, device());
  const auto run = [&] {
    x.sqrt().add(1);
    guard.check();
  };
  run(), run();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].operation, "sqrt");
  guard.reset();
  run(), run();
  EXPECT_EQ(reports.size(), 2U);
  {
    const NanGuard inner;  // the last one tells
    EXPECT_THROW(run(), NanError);
  }
  guard.reset();
  run();
  EXPECT_EQ(reports.size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Devices, NanGuardOn, testing::Values(kCPU, kCUDA), name_of_guarded);

TEST(NanGuard, IsOffWithoutOne) {
  { const NanGuard guard; }
  const Tensor x = tensor({-1.0}, requires_grad());
  const Tensor y = x.sqrt();
  EXPECT_TRUE(std::isnan(y.item<float>()));
  EXPECT_EQ(y.grad_fn()->forward_call(), nullptr);
  EXPECT_FALSE(autograd::AnomalyMode::is_enabled());
}

TEST(NanGuard, AndProfilesComeAndGoInAnyOrder) {
  const Tensor bad = tensor({-1.0});
  auto guard = std::make_unique<NanGuard>();
  profiler::profile prof({.with_modules = true});
  EXPECT_THROW(bad.sqrt(), NanError);
  Net net;
  EXPECT_THROW(net(full({1, 2}, -4.0)), NanError);
  guard.reset();  // below the profile
  bad.sqrt();
  guard = std::make_unique<NanGuard>();
  prof.stop();  // below the guard
  EXPECT_THROW(bad.sqrt(), NanError);
  guard.reset();
  bad.sqrt();
  const auto averages = prof.key_averages();
  int64_t roots = 0;
  for (const auto& each : averages)
    if (each.key == "sqrt") roots = each.count;
  EXPECT_EQ(roots, 3);
}

TEST(NanGuard, NamesTheInputOfAWorkersBatch) {
  const Tensor pictures = ones({8, 2}), classes = zeros({8}, kLong);
  pictures[5][1].fill_(nan);
  Net net;
  data::DataLoader loader(data::TensorPairDataset(pictures, classes),
                          data::DataLoaderOptions(2).workers(2));
  int batches = 0;
  const NanReport report = report_of([&] {
    for (auto& [x, y] : loader) {
      net(x);
      ++batches;
    }
  });
  EXPECT_EQ(batches, 2);
  EXPECT_FALSE(report.made);
  EXPECT_EQ(report.module, "blocks.0.proj (Linear)");
  expect_part(report.message, "input 1, of shape [2, 2], has NaN, first at [1, 1]; ");
}

TEST(NanGuard, LooksAtEachReplayOfACapturedStep) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  Net net;
  net->to(kCUDA);
  optim::SGD sgd(net->parameters(), 0.1);
  const auto options = TensorOptions().device(kCUDA);
  NanGuard guard;
  auto step = cuda::make_graphed(
      [&](const Tensor& x) {
        sgd.zero_grad();
        const Tensor loss = net(x).sum();
        loss.backward();
        return loss;
      },
      ones({2, 2}, options));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(step(ones({2, 2}, options)).item<float>(), 4);
  const Tensor bad = ones({2, 2}, options);
  bad[1][0].fill_(-4);
  for (int i = 0; i < 2; ++i) try {
      step(bad).item<float>();
      ADD_FAILURE() << "nothing was found";
    } catch (const NanError& error) {
      EXPECT_EQ(error.report().module, "blocks.0.root (Root)");
      EXPECT_EQ(error.report().first, (std::vector<int64_t>{1, 0}));
      expect_part(error.what(), "sqrt, forward" + here(RootImpl::kLine) + ", cuda:0: 1 of 4");
    }
  EXPECT_EQ(step(ones({2, 2}, options)).item<float>(), 4);
}

TEST(NanGuard, NamesTheDeviceOfAReplica) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  Net net;
  net->to(Device(kCUDA, 0));
  nn::DataParallel parallel(net, {0, 1});
  Tensor x = ones({4, 2}, TensorOptions().device(Device(kCUDA, 0)));
  expect_silence("finite", [&] { parallel(x).sum().backward(); });
  x[3][1].fill_(-1);
  NanReport report = report_of([&] { parallel(x); });
  EXPECT_EQ(report.device, Device(kCUDA, 1));
  EXPECT_EQ(report.module, "blocks.0.root (Root)");
  EXPECT_EQ(report.first, (std::vector<int64_t>{1, 1}));
  x[3][1].fill_(0);
  report = report_of([&] { parallel(x).sum().backward(); });
  EXPECT_EQ(report.device, Device(kCUDA, 1));
  EXPECT_EQ(report.phase, Phase::Backward);
  EXPECT_EQ(report.module, "blocks.1.root (Root)");
}

TEST(NanGuard, IsShownByADashboard) {
  watch::Dashboard dashboard(0, "a run");
  report_of([] { tensor({-1.0}).sqrt(); });
  const auto state = dashboard.state_dict();
  std::string all;
  for (const auto& item : state)
    for (const double value : to_vector(item.value())) all += static_cast<char>(value);
  expect_part(all, "1 of 1 output is NaN");
}

TEST(NanGuard, IsStartedByTheEnvironment) {
  EXPECT_FALSE(detail::start_nan_guard_of_environment());
  EXPECT_TRUE(test::holds_in_child([] {
    ::setenv("GRADUS_NAN_GUARD", "1", 1);
    if (!detail::start_nan_guard_of_environment()) return false;
    try {
      tensor({-1.0}).sqrt();
    } catch (const NanError&) {
      return true;
    }
    return false;
  }));
}

}  // namespace guarded
