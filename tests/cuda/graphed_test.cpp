// Whole training steps as graphs, against the same steps without: bit for bit.
#include "gradus/cuda/graphed.h"

#include "gradus/gradus.h"
#include "tests/cuda/gpu_test.h"
#include "tests/piece_sizes.h"

namespace gradus {
namespace {

using cuda::make_graphed;

class GraphedTest : public GpuTest {};

using Model = nn::Sequential;
using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(Tensors)>;

// Losses, and at the end parameters, buffers and a random number.
Tensors train(bool graphed, const std::function<Model()>& make_model, const MakeOptimizer& make,
              IntArrayRef shape, int steps = 20) {
  manual_seed(21);
  const Model model = make_model();
  model->to(kCUDA);
  const auto optimizer = make(model->parameters());
  optim::StepLR schedule(*optimizer, 3, 0.5);
  nn::CrossEntropyLoss criterion;
  const auto f = [&](const Tensor& x, const Tensor& y) {
    optimizer->zero_grad();
    const Tensor loss = criterion(model->forward(x), y);
    loss.backward();
    optimizer->step();
    return loss;
  };
  const auto batch = [&] { return randn(shape, kCUDA); };
  const auto targets = [&] { return randint(3, {shape[0]}, kCUDA).to(kLong); };
  Tensors out;
  const auto run = [&](auto& step) {
    for (int i = 0; i < steps; ++i) {
      out.push_back(step(batch(), targets()).detach().clone());
      schedule.step();
    }
  };
  if (graphed) {
    auto step = make_graphed(f, batch(), targets());
    run(step);
  } else {
    batch(), targets();
    run(f);
  }
  for (const Tensor& p : model->parameters()) out.push_back(p.detach().clone());
  for (const Tensor& b : model->buffers()) out.push_back(b.clone());
  for (const auto& each : optimizer->state_dict()) out.push_back(each->clone());
  out.push_back(rand({1}, kCUDA));
  return out;
}

void expect_same_training(const std::function<Model()>& model, const MakeOptimizer& optimizer,
                          IntArrayRef shape, int steps = 20) {
  const Tensors expected = train(false, model, optimizer, shape, steps);
  const Tensors got = train(true, model, optimizer, shape, steps);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(got[i].equal(expected[i])) << i << ": " << got[i] << '\n' << expected[i];
}

template <class Optimizer, class Options>
MakeOptimizer optimizer_with(const Options& options) {
  return
      [=](const Tensors& parameters) { return std::make_unique<Optimizer>(parameters, options); };
}

Model mlp() { return Model(nn::Linear(12, 16), nn::ReLU(), nn::Dropout(0.5), nn::Linear(16, 3)); }

TEST_F(GraphedTest, AStepOfAnMlpFollowsItsSchedule) {
  expect_same_training(mlp, optimizer_with<optim::Adam>(optim::AdamOptions(0.02)), {8, 12}, 25);
}

TEST_F(GraphedTest, AStepWithEveryOptimizerThatCanBeCaptured) {
  const auto check = [](const MakeOptimizer& make) { expect_same_training(mlp, make, {4, 12}, 8); };
  check(optimizer_with<optim::SGD>(optim::SGDOptions(0.1)));
  check(optimizer_with<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9).dampening(0.5)));
  check(optimizer_with<optim::Adam>(optim::AdamOptions(0.02).amsgrad(true).weight_decay(0.1)));
  check(optimizer_with<optim::AdamW>(optim::AdamWOptions(0.02)));
  check(optimizer_with<optim::Adagrad>(optim::AdagradOptions(0.1).lr_decay(0.3)));
  check(optimizer_with<optim::RMSprop>(optim::RMSpropOptions(0.01).centered(true).momentum(0.5)));
  check(optimizer_with<optim::Lion>(optim::LionOptions(0.01)));
  check(optimizer_with<optim::Adadelta>(optim::AdadeltaOptions()));
  check(optimizer_with<optim::Adamax>(optim::AdamaxOptions(0.02)));
  check(optimizer_with<optim::NAdam>(optim::NAdamOptions(0.02)));
  check(optimizer_with<optim::RAdam>(optim::RAdamOptions(0.02)));
}

// The pieces are computed on streams beside the captured one.
TEST_F(GraphedTest, AStepWithGradientsInPieces) {
  const SmallPieces pieces;
  expect_same_training(mlp, optimizer_with<optim::SGD>(optim::SGDOptions(0.1)), {4, 12}, 5);
}

// The norm of the gradients stays on the GPU; as a number of the CPU it cannot be captured.
TEST_F(GraphedTest, AStepThatClipsItsGradients) {
  const Tensor weight = randn({5, 3}, kCUDA), batch = randn({8, 5}, kCUDA);
  const auto weights_after = [&](auto clip, bool graphed) {
    const Tensor own = weight.clone().set_requires_grad(true);
    optim::SGD sgd({own}, optim::SGDOptions(0.1));
    const auto f = [&](const Tensor& x) {
      sgd.zero_grad();
      x.matmul(own).square().sum().backward();
      clip(own);
      sgd.step();
      return own.grad().norm();
    };
    auto step = make_graphed(f, batch);
    Tensor norm;
    for (int i = 0; i < 5; ++i) norm = graphed ? step(batch) : f(batch);
    EXPECT_NEAR(norm.item<float>(), 0.5, 1e-5);
    return own.detach();
  };
  const auto by_number = [](const Tensor& x) { nn::utils::clip_grad_norm_(x, 0.5); };
  const auto on_gpu = [](const Tensor& x) {
    nn::utils::clip_grads_with_norm_(x, 0.5, nn::utils::get_total_norm({x.grad()}));
  };
  EXPECT_TRUE(equal(weights_after(on_gpu, true), weights_after(by_number, false)));
  EXPECT_CONTAINS(message_of<Error>([&] { weights_after(by_number, true); }), "item");
}

TEST_F(GraphedTest, AStepOfLeNet) {
  const auto lenet = [] {
    return Model(nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)), nn::BatchNorm2d(6), nn::ReLU(),
                 nn::MaxPool2d(2), nn::Conv2d(6, 16, 5), nn::ReLU(), nn::MaxPool2d(2),
                 nn::Flatten(), nn::Linear(400, 120), nn::ReLU(), nn::Linear(120, 84), nn::ReLU(),
                 nn::Linear(84, 3));
  };
  expect_same_training(lenet, optimizer_with<optim::SGD>(optim::SGDOptions(0.01).momentum(0.9)),
                       {2, 1, 28, 28}, 5);
}

TEST_F(GraphedTest, AStepInFloat16OfSomeParametersAndGroups) {
  const auto half = [] {
    Model model(nn::Linear(12, 3));
    model->to(kBFloat16);
    return model;
  };
  const MakeOptimizer groups = [](const Tensors& parameters) {
    std::vector<optim::OptimizerParamGroup> out;
    for (const Tensor& p : parameters)
      out.emplace_back(Tensors{p}, std::make_unique<optim::AdamOptions>(out.empty() ? 0.01 : 0.1));
    return std::make_unique<optim::Adam>(std::move(out));
  };
  const auto f = [&](bool graphed) {
    manual_seed(4);
    const Model model = half();
    model->to(kCUDA);
    const auto adam = groups(model->parameters());
    auto step = [&](const Tensor& x) {
      adam->zero_grad();
      const Tensor loss = model->forward(x).square().sum();
      loss.backward();
      adam->step();
      return loss;
    };
    Tensors out;
    const Tensor x = randn({4, 12}, kCUDA).to(kBFloat16);
    auto graph = make_graphed(step, x);
    for (int i = 0; i < 6; ++i) out.push_back((graphed ? graph(x) : step(x)).detach().clone());
    for (const Tensor& p : model->parameters()) out.push_back(p.detach().clone());
    return out;
  };
  const Tensors expected = f(false), got = f(true);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i].equal(expected[i])) << i;
}

TEST_F(GraphedTest, APartThatIsComputedAgainDrawsTheSameNumbers) {
  const auto f = [&](bool graphed) {
    manual_seed(8);
    nn::Linear fc(6, 6);
    fc->to(kCUDA);
    const auto step = [&](const Tensor& x) {
      fc->zero_grad();
      const auto part = [&](const Tensor& z) { return dropout(fc(z).tanh(), 0.5, true).exp(); };
      autograd::checkpoint(part, autograd::checkpoint(part, x)).sum().backward();
      return fc->weight.grad();
    };
    const Tensor x = randn({5, 6}, TensorOptions(kCUDA).requires_grad(true));
    auto graph = make_graphed(step, x);
    Tensors out;
    for (int i = 0; i < 5; ++i) out.push_back((graphed ? graph(x) : step(x)).clone());
    return out;
  };
  const Tensors expected = f(false), got = f(true);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i].equal(expected[i])) << i;
}

TEST_F(GraphedTest, ASteadyStepNeitherAllocatesNorWaitsNorLaunches) {
  nn::Linear fc(10, 1);
  fc->to(kCUDA);
  optim::Adam adam(fc->parameters(), 0.01);
  nn::MSELoss loss;
  const Tensor x = randn({64, 10}, kCUDA), y = randn({64, 1}, kCUDA);
  auto step = make_graphed(
      [&](const Tensor& in, const Tensor& out) {
        adam.zero_grad();
        loss(fc(in), out).backward();
        adam.step();
      },
      x, y);
  for (int i = 0; i < 4; ++i) step(x, y);
  const cuda::Stats before = cuda::stats();
  for (int i = 0; i < 10; ++i) step(x, y);
  const cuda::Stats after = cuda::stats();
  EXPECT_EQ(after.mallocs, before.mallocs);
  EXPECT_EQ(after.synchronizations, before.synchronizations);
  EXPECT_EQ(after.kernel_launches - before.kernel_launches, 10) << "the copy of the inputs alone";
}

// Side by side, of sizes that align what comes behind them, or apart; contiguous or not.
TEST_F(GraphedTest, CopiesInputsOfAnyLayout) {
  for (const int64_t n : {3, 4}) {
    auto f = make_graphed([](const Tensor& a, const Tensor& b) { return std::tuple(a + 1, b * 2); },
                          zeros({n}, kCUDA), zeros({2, 4}, kCUDA));
    for (int i = 0; i < 6; ++i) {
      const Tensor a = randn({n}, kCUDA);
      const Tensor b = i % 2 ? randn({2, 4}, kCUDA) : randn({4, 2}, kCUDA).t();
      const auto [sum, product] = f(a, b);
      EXPECT_TRUE(sum.equal(a + 1) && product.equal(b * 2)) << n << ", call " << i;
    }
  }
}

TEST_F(GraphedTest, ReturnsWhatTheFunctionReturns) {
  const Tensor x = ones({2, 3}, kCUDA);
  auto pair = make_graphed([](const Tensor& a) { return std::tuple(a + 1, a * 2); }, x);
  auto list = make_graphed([](const Tensor& a) { return Tensors{a + 1, a * 2}; }, x);
  for (int i = 0; i < 4; ++i) {
    const Tensor now = full({2, 3}, 1.0 * i, kCUDA);
    const auto [sum, product] = pair(now);
    EXPECT_TRUE(sum.equal(now + 1) && product.equal(now * 2)) << i;
    const Tensors both = list(now);
    EXPECT_TRUE(both[0].equal(now + 1) && both[1].equal(now * 2)) << i;
  }
  EXPECT_TRUE(list(x)[0].is_same(list(x)[0])) << "the same tensor each time";
}

TEST_F(GraphedTest, ChecksEachCall) {
  const Tensor x = ones({2, 3}, kCUDA), y = ones({4}, kCUDA);
  auto f = make_graphed([](const Tensor& a, const Tensor&) { return a + 1; }, x, y);
  EXPECT_EQ(
      message_of<ValueError>([&] { f(x, ones({5}, kCUDA)); }),
      "graphed function: input 2 has shape [5], expected that of the sample, [4]; make another "
      "graph for other inputs, or call the function itself");
  EXPECT_CONTAINS(message_of<TypeError>([&] { f(x.to(kDouble), y); }),
                  "input 1 has dtype float64, expected that of the sample, float32");
  EXPECT_CONTAINS(message_of<ValueError>([&] { f(x, ones({4})); }), "input 2 has device cpu");
  EXPECT_CONTAINS(message_of<ValueError>([&] { f(Tensor(), y); }), "input 1 is undefined");
  EXPECT_CONTAINS(
      message_of<ValueError>([&] { make_graphed([](const Tensor& a) { return a; }, ones({2})); }),
      "make_graphed: input 1 is on cpu, expected all on one GPU; use .to(kCUDA)");
  EXPECT_CONTAINS(message_of<ValueError>([] { make_graphed([] {}); }), "there is no input");
}

TEST_F(GraphedTest, AFailedCaptureCanBeTriedAgain) {
  const Tensor x = ones({3}, kCUDA);
  bool reads = true;
  auto f = make_graphed(
      [&](const Tensor& a) {
        if (reads) a.sum().item<float>();
        return a + 1;
      },
      x);
  f(x), f(x);
  EXPECT_CONTAINS(message_of<Error>([&] { f(x); }), "cannot be captured");
  reads = false;
  EXPECT_TRUE(f(x).equal(x + 1));
}

TEST_F(GraphedTest, StepsThatCannotFollowTheirOptimizerAreErrors) {
  nn::Linear fc(4, 4);
  fc->to(kCUDA);
  for (Tensor& p : fc->parameters()) p.mutable_grad() = ones_like(p.detach());
  const auto capture = [&](optim::Optimizer& optimizer) {
    cuda::Graph graph;
    const cuda::StreamGuard guard(cuda::getStreamFromPool());
    graph.capture_begin();
    optimizer.step();
  };
  optim::Adam adam(fc->parameters(), 0.1);
  EXPECT_CONTAINS(message_of<Error>([&] { capture(adam); }),
                  "Adam: the first step of a parameter cannot be captured for a graph, because it "
                  "makes its state; call step() once before the capture");
  optim::Muon muon(Tensors{fc->weight}, 0.1);
  EXPECT_CONTAINS(message_of<Error>([&] { capture(muon); }), "Muon: step() cannot be captured");

  optim::SGD sgd(fc->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  sgd.step();
  cuda::Graph graph;
  {
    const cuda::StreamGuard guard(cuda::getStreamFromPool());
    graph.capture_begin();
    sgd.step();
    graph.capture_end();
  }
  graph.replay();
  sgd.load_state_dict(sgd.state_dict());
  EXPECT_CONTAINS(message_of<Error>([&] { graph.replay(); }),
                  "SGD: the state of a parameter was replaced after a step was captured");
  static_cast<optim::SGDOptions&>(sgd.param_groups()[0].options()).momentum(0);
  EXPECT_CONTAINS(
      message_of<Error>([&] { graph.replay(); }),
      "SGD: a captured step keeps 1 states of a parameter, and the options now ask for 0");
}

}  // namespace
}  // namespace gradus
