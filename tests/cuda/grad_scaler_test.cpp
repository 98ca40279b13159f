// Steps with a GradScaler on a GPU: those that a host makes which waits for each number, without
// waits, and captured.
#include <limits>

#include "gradus/cuda/graphed.h"
#include "gradus/gradus.h"
#include "tests/cuda/gpu_test.h"

namespace gradus {
namespace {

using amp::GradScaler, amp::GradScalerOptions;

class GradScalerTest : public GpuTest {};

using Optimizer = std::unique_ptr<optim::Optimizer>;
using Make = std::function<Optimizer(Tensors)>;

template <class Algorithm, class Options>
Make with(const Options& options) {
  return
      [=](const Tensors& parameters) { return std::make_unique<Algorithm>(parameters, options); };
}

std::vector<Make> algorithms() {
  return {
      with<optim::SGD>(optim::SGDOptions(0.1)),
      with<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9).dampening(0.5)),
      with<optim::Adam>(optim::AdamOptions(0.02).amsgrad(true).weight_decay(0.1)),
      with<optim::AdamW>(optim::AdamWOptions(0.02)),
      with<optim::Adagrad>(optim::AdagradOptions(0.1).lr_decay(0.3).initial_accumulator_value(0.1)),
      with<optim::RMSprop>(optim::RMSpropOptions(0.01).centered(true).momentum(0.5)),
      with<optim::Lion>(optim::LionOptions(0.01)), with<optim::Adadelta>(optim::AdadeltaOptions()),
      with<optim::Adamax>(optim::AdamaxOptions(0.02)),
      with<optim::NAdam>(optim::NAdamOptions(0.02)),
      // Its rate is a small difference of large numbers where the second beta is near 1.
      with<optim::RAdam>(optim::RAdamOptions(0.02).betas({0.9, 0.9}))};
}

Tensors parameters_on_gpu() {
  Tensors out;
  for (const ScalarType type : {kFloat, kFloat, kDouble, kBFloat16})
    out.push_back(linspace(-1, 1, 5).to(kCUDA, type).set_requires_grad(true));
  return out;
}

// The numbers of the state as tensors of one kind.
void expect_same_state(const optim::Optimizer& a, const optim::Optimizer& b, int step) {
  const auto got = a.state_dict(), expected = b.state_dict();
  ASSERT_EQ(got.keys(), expected.keys()) << step;
  for (const auto& each : got)
    EXPECT_TRUE(each->equal(expected[each.key()])) << each.key() << " of step " << step;
}

// A GPU counts its steps itself, and its power of a decay (tensor/math/optimizers.h) may differ
// from the host's in the last bit, and so a double. What has fewer digits is equal bit for bit.
void expect_same(const Tensor& got, const Tensor& expected, size_t step) {
  const bool same =
      got.scalar_type() == kDouble ? got.allclose(expected, 1e-14, 1e-15) : got.equal(expected);
  EXPECT_TRUE(same) << step << ": " << got << expected;
}

// Step i has a gradient that is not finite where bad says so; parameter 1 has none in step 6.
void expect_steps_of_a_host(const Make& make, const std::vector<bool>& bad, bool look) {
  const Tensors mine = parameters_on_gpu(), other = parameters_on_gpu();
  const Optimizer optimizer = make(mine), plain = make(other);
  GradScaler scaler(GradScalerOptions().init_scale(10).growth_interval(2).growth_factor(3));
  double scale = 10;
  int good = 0;
  manual_seed(1);
  for (size_t i = 0; i < bad.size(); ++i) {
    for (size_t p = 0; p < mine.size(); ++p) {
      Tensor grad = rand({5}, kCUDA).to(mine[p].scalar_type());
      if (bad[i] && p == 2) grad[3].fill_(std::numeric_limits<double>::infinity());
      mine[p].mutable_grad() = i == 6 && p == 1 ? Tensor() : grad;
      other[p].mutable_grad() = i == 6 && p == 1 ? Tensor() : grad.clone().mul_(1 / scale);
    }
    if (i % 3 == 0) scaler.unscale_(*optimizer);
    scaler.step(*optimizer);
    scaler.update();
    if (!bad[i]) plain->step();
    if (bad[i]) scale *= 0.5, good = 0;
    if (!bad[i] && ++good == 2) scale *= 3, good = 0;
    for (size_t p = 0; p < mine.size(); ++p) expect_same(mine[p], other[p], i);
    if (!look) continue;
    expect_same_state(*optimizer, *plain, static_cast<int>(i));
    EXPECT_EQ(scaler.get_scale(), scale) << i;
  }
  expect_same_state(*optimizer, *plain, -1);
  EXPECT_EQ(scaler.get_scale(), scale);
}

TEST_F(GradScalerTest, StepsAsAHostThatWaits) {
  for (const Make& make : algorithms())
    for (const bool look : {false, true}) {
      expect_steps_of_a_host(make, {0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0}, look);
      expect_steps_of_a_host(make, {1, 1, 0, 0, 0, 0, 0, 1, 0}, look);
    }
}

TEST_F(GradScalerTest, APassedOverFirstStepMakesNoState) {
  const Tensors all = parameters_on_gpu();
  optim::Adam adam(all, 0.1);
  GradScaler scaler;
  for (const Tensor& p : all) p.mutable_grad() = full_like(p.detach(), std::nan(""));
  scaler.step(adam);
  EXPECT_TRUE(adam.state().empty());
}

TEST_F(GradScalerTest, ASteadyStepDoesNotWait) {
  for (const Make& make : algorithms()) {
    const Tensors all = parameters_on_gpu();
    const Optimizer optimizer = make(all);
    GradScaler scaler;
    const Tensor nan = full({}, std::nan(""), kCUDA), one = ones({}, kCUDA);
    const auto step = [&](const Tensor& factor) {
      optimizer->zero_grad();
      Tensor loss = zeros({}, kCUDA);
      for (const Tensor& p : all) loss = loss + (p * factor).sum().to(kFloat);
      scaler.scale(loss).backward();
      scaler.step(*optimizer);
      scaler.update();
    };
    step(one), step(one);
    const cuda::Stats before = cuda::stats();
    for (int i = 0; i < 6; ++i) step(i == 3 ? nan : one);
    const cuda::Stats after = cuda::stats();
    EXPECT_EQ(after.synchronizations, before.synchronizations);
    EXPECT_EQ(after.device_to_host, before.device_to_host);
    EXPECT_EQ(after.mallocs, before.mallocs);
    EXPECT_EQ(scaler.get_scale(), 32768);
  }
}

// Under autocast, with batches some of which overflow.
TEST_F(GradScalerTest, AStepIsCaptured) {
  const auto train = [](const Make& make, bool graphed) {
    manual_seed(5);
    nn::Sequential model(nn::Linear(12, 16), nn::ReLU(), nn::Linear(16, 3));
    model->to(kCUDA);
    const Optimizer optimizer = make(model->parameters());
    optim::StepLR schedule(*optimizer, 3, 0.5);
    GradScaler scaler(GradScalerOptions().init_scale(256).growth_interval(3));
    const auto f = [&](const Tensor& x) {
      optimizer->zero_grad();
      Tensor loss;
      {
        const amp::autocast guard(kCUDA, kHalf);
        loss = model->forward(x).square().mean();
      }
      scaler.scale(loss).backward();
      scaler.step(*optimizer);
      scaler.update();
      return loss;
    };
    Tensors out;
    const auto run = [&](auto& step) {
      for (int i = 0; i < 12; ++i) {
        Tensor x = randn({4, 12}, kCUDA);
        if (i == 4 || i == 7 || i == 8) x.mul_(1e6);
        out.push_back(step(x).detach().clone());
        schedule.step();
      }
    };
    if (graphed) {
      auto step = cuda::make_graphed(f, zeros({4, 12}, kCUDA));
      run(step);
    } else {
      run(f);
    }
    for (const Tensor& p : model->parameters()) out.push_back(p.detach().clone());
    for (const auto& each : optimizer->state_dict()) out.push_back(each->clone());
    out.push_back(full({}, scaler.get_scale()));
    return out;
  };
  for (const Make& make : algorithms()) {
    const Tensors expected = train(make, false), got = train(make, true);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(got[i].allclose(expected[i], 0, 0, /*equal_nan=*/true))
          << i << ": " << got[i] << '\n'
          << expected[i];
    EXPECT_EQ(got.back().item<double>(), 128) << "two growths by 2, three falls by 2";
  }
}

TEST_F(GradScalerTest, AFirstStepIsNotCaptured) {
  const Tensor p = ones({3}, kCUDA).set_requires_grad(true);
  p.mutable_grad() = ones({3}, kCUDA);
  optim::Adam adam({p}, 0.1);
  const Tensor no = zeros({}, TensorOptions(kCUDA).dtype(kDouble));
  const auto capture = [&] {
    cuda::Graph graph;
    const cuda::StreamGuard guard(cuda::getStreamFromPool());
    graph.capture_begin();
    adam.step_unless(no);
  };
  EXPECT_CONTAINS(message_of<Error>(capture),
                  "Adam: the first step that may be passed over cannot "
                  "be captured for a graph, because it makes a counter");
  adam.step_unless(ones_like(no));
  EXPECT_CONTAINS(message_of<Error>(capture),
                  "Adam: the first step of a parameter cannot be captured for a graph, because it "
                  "makes its state; call step() once before the capture");
}

}  // namespace
}  // namespace gradus
