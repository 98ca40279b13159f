// Channels last on a GPU: layers keep the format without copies, and give the values of row-major
// tensors on the CPU.
#include "gradus/cuda/runtime/stats.h"

#include <limits>

#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {

namespace cuda {
std::string recent_launches();  // of launch.h, which needs CUDA's headers
}

namespace {

class ChannelsLastTest : public GpuTest {};

constexpr MemoryFormat kLast = MemoryFormat::ChannelsLast;
Tensor last(const Tensor& x) { return x.contiguous(kLast); }
double last_place_of(ScalarType dtype) {
  return dtype == kBFloat16 ? 0x1p-7 : dtype == kHalf ? 0x1p-10 : dtype == kFloat ? 1e-5 : 1e-13;
}
double furthest(const Tensor& got, const Tensor& expected) {
  return (got.to(kCPU).to(kDouble) - expected).abs().max().item<double>();
}

TEST_F(ChannelsLastTest, BatchNormAndItsGradients) {
  for (const ScalarType dtype : {kFloat, kHalf, kBFloat16, kDouble})
    for (const int64_t channels : {16, 5}) {
      SCOPED_TRACE(channels);
      const Tensor x = (3 * randn({3, channels, 4, 5}) + 40).to(dtype);
      const Tensor grad = randn({3, channels, 4, 5}).to(dtype);
      const Tensor w = randn({channels}), b = randn({channels});
      struct Outcome {
        Tensor y, x_grad, w_grad, b_grad, mean, var;
      };
      const auto run = [&](const auto& there, ScalarType parameters) {
        const Tensor input = there(x).detach().set_requires_grad(true);
        const auto leaf = [&](const Tensor& t) {
          return t.to(parameters).to(input.device()).detach().set_requires_grad(true);
        };
        const Tensor weight = leaf(w), bias = leaf(b);
        const auto running = [&](double value) {
          return full({channels}, value, weight.options().requires_grad(false));
        };
        const Tensor mean = running(0), var = running(1);
        const Tensor y = batch_norm(input, weight, bias, mean, var, true, 0.1, 1e-5, false);
        y.backward(there(grad));
        return Outcome{y, input.grad(), weight.grad(), bias.grad(), mean, var};
      };
      const Outcome exact = run([](const Tensor& t) { return t.to(kDouble); }, kDouble);
      const Outcome got =
          run([](const Tensor& t) { return last(t.cuda()); }, dtype == kDouble ? kDouble : kFloat);
      const double unit = last_place_of(dtype);
      EXPECT_EQ(got.y.dtype(), dtype);
      EXPECT_TRUE(got.y.is_contiguous(kLast));
      EXPECT_FALSE(got.y.is_view());  // so that relu_ may follow at no cost
      EXPECT_TRUE(got.x_grad.is_contiguous(kLast));
      EXPECT_LE(furthest(got.y, exact.y.detach()), 8 * unit);
      EXPECT_LE(furthest(got.x_grad, exact.x_grad), 8 * unit);
      const double of_sums = dtype == kDouble ? 1e-11 : 1e-3;
      EXPECT_LE(furthest(got.w_grad, exact.w_grad), of_sums);
      EXPECT_LE(furthest(got.b_grad, exact.b_grad), of_sums);
      EXPECT_LE(furthest(got.mean, exact.mean), dtype == kDouble ? 1e-13 : 1e-5);
      EXPECT_LE(furthest(got.var, exact.var), dtype == kDouble ? 1e-12 : 1e-4);
    }
}

TEST_F(ChannelsLastTest, MomentsOfColumnsWithALargeMean) {
  const Tensor x = randn({2, 8, 16, 16}) + 1e4;
  Tensor mean = zeros({8}).cuda(), var = zeros({8}).cuda();
  batch_norm(last(x.cuda()), {}, {}, mean, var, true, 1, 1e-5, false);
  const Tensor wide = x.to(kDouble).transpose(0, 1).flatten(1);
  EXPECT_LE(furthest(mean, wide.mean(1)), 1e-2);
  EXPECT_LE(furthest(var, wide.var(1)), 1e-2);
}

// One launch finishes the statistics, the running ones and the count.
TEST_F(ChannelsLastTest, BatchNormTakesFewLaunchesAndMovesTheRunningStatistics) {
  for (const MemoryFormat format : {kLast, MemoryFormat::Contiguous})
    for (const ScalarType dtype : {kFloat, kDouble}) {
      nn::BatchNorm2d norm(6), exact(6);
      norm->to(kCUDA, dtype), exact->to(kDouble);
      for (int step = 1; step <= 3; ++step) {
        const Tensor x = (2 * randn({3, 6, 4, 5}) + 1).to(dtype);
        const Tensor there = x.cuda().contiguous(format);
        const int64_t before = cuda::stats().kernel_launches;
        const Tensor y = norm->forward(there);
        EXPECT_EQ(cuda::stats().kernel_launches - before, format == kLast ? 2 : 3);
        exact->forward(x.to(kDouble));
        const double unit = dtype == kDouble ? 1e-14 : 1e-6;
        EXPECT_LE(furthest(norm->running_mean, exact->running_mean), 4 * unit);
        EXPECT_LE(furthest(norm->running_var, exact->running_var), 16 * unit);
        EXPECT_EQ(norm->num_batches_tracked.item<int64_t>(), step);
      }
    }
}

// Batch norm and its gradients by many blocks, of which the last ones add up.
struct NormOfColumns {
  explicit NormOfColumns(const Tensor& x_, const Tensor& grad_, ScalarType parameters)
      : x(x_.detach().set_requires_grad(true)), grad(grad_), norm(x.size(1)) {
    norm->to(x.device(), parameters);
    for (int64_t i = 0; i < x.size(1); ++i) {
      const NoGradGuard guard;
      norm->weight.select(0, i).fill_(0.5 + 0.01 * static_cast<double>(i % 50));
    }
  }
  std::vector<Tensor> operator()() {
    x.mutable_grad() = {}, norm->zero_grad();
    const Tensor y = norm->forward(x);
    y.backward(grad);
    return {y.detach(), x.grad(), norm->weight.grad(), norm->bias.grad(), norm->running_var};
  }
  Tensor x, grad;
  nn::BatchNorm2d norm;
};

TEST_F(ChannelsLastTest, BatchNormOfManyBlocks) {
  for (const ScalarType dtype : {kBFloat16, kHalf, kFloat, kDouble})
    for (const int64_t channels : {8, 24, 96, 144, 5, 33}) {
      SCOPED_TRACE(channels);
      const ScalarType parameters = dtype == kDouble ? kDouble : kFloat;
      const int64_t side = channels < 24 ? 40 : 23;
      const Tensor x = (2 * randn({2, channels, side, side}) + 3).to(dtype),
                   grad = randn({2, channels, side, side}).to(dtype);
      NormOfColumns exact(x.to(kDouble), grad.to(kDouble), kDouble);
      const std::vector<Tensor> expected = exact();
      NormOfColumns there(last(x.cuda()), last(grad.cuda()), parameters),
          again(last(x.cuda()), last(grad.cuda()), parameters);
      const std::vector<Tensor> got = there(), same = again();
      const double unit = last_place_of(dtype), of_sums = dtype == kDouble ? 1e-10 : 2e-3;
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_LE(furthest(got[i], expected[i]), i < 2 ? 16 * unit : of_sums) << i;
        EXPECT_TRUE(equal(got[i], same[i])) << i;
      }
    }
}

// What a captured step counts with is its own, and is 0 again for each replay.
TEST_F(ChannelsLastTest, BatchNormOfManyBlocksIsCapturedAndRunsOnTwoStreams) {
  const auto make = [] {
    return NormOfColumns(last(full({2, 8, 40, 40}, 1.5).cuda()), last(randn({2, 8, 40, 40}).cuda()),
                         kFloat);
  };
  NormOfColumns captured = make(), beside = make();
  const Tensor x = last(randn({2, 8, 40, 40}).cuda());
  beside.grad = captured.grad;
  {
    const NoGradGuard guard;
    beside.x.copy_(x);
  }
  const std::vector<Tensor> expected = beside();
  cuda::synchronize();
  cuda::Graph graph;
  std::vector<Tensor> got;
  {
    const cuda::StreamGuard guard(cuda::getStreamFromPool());
    graph.capture_begin();
    got = captured();
    graph.capture_end();
  }
  {
    const NoGradGuard guard;
    captured.x.copy_(x);
  }
  cuda::synchronize();
  for (int step = 0; step < 3; ++step) {
    const cuda::Stream other = cuda::getStreamFromPool();
    {
      const cuda::StreamGuard guard(other);
      graph.replay();
    }
    const std::vector<Tensor> eager = beside();
    cuda::synchronize();
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_TRUE(equal(got[i], expected[i])) << i;
      EXPECT_TRUE(equal(eager[i], expected[i])) << i;
    }
  }
}

TEST_F(ChannelsLastTest, RunningStatisticsOfAnotherDtypeMoveToo) {
  const Tensor x = randn({3, 6, 4, 5});
  Tensor mean = zeros({6}, kDouble).cuda(), var = ones({6}, kDouble).cuda();
  batch_norm(last(x.cuda()), {}, {}, mean, var, true, 0.5, 1e-5, false);
  const Tensor wide = x.to(kDouble).transpose(0, 1).flatten(1);
  EXPECT_LE(furthest(mean, wide.mean(1) / 2), 1e-6);
  // Sums in float32 of squares of differences from the first row, which may lie 3 deviations apart.
  EXPECT_LE(furthest(var, 0.5 + wide.var(1) / 2), 8e-6);
}

TEST_F(ChannelsLastTest, BatchNormOfManySamplesAtOnce) {
  const Tensor x = randn({3, 2, 6, 4, 5}), w = randn({6}), b = randn({6});
  const auto norm = [&](const Device& device) {
    return [&, device](const Tensor& one) {
      return batch_norm(one.contiguous(kLast), w.to(device), b.to(device), {}, {}, true, 0.1, 1e-5,
                        false);
    };
  };
  const Tensor got = autograd::functional::vmap(norm(kCUDA))(x.cuda());
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_LE(furthest(got.select(0, i), norm(kCPU)(x.select(0, i)).to(kDouble)), 1e-5);
}

// Sequential makes one pass of batch norm and what clamps.
TEST_F(ChannelsLastTest, BatchNormWithAClampAndItsGradients) {
  using Clamp = std::function<void(nn::Sequential&)>;
  const Clamp clamps[] = {
      [](nn::Sequential& net) { net->push_back(nn::ReLU(true)); },
      [](nn::Sequential& net) { net->push_back(nn::ReLU6(true)); },
      [](nn::Sequential& net) {
        net->push_back(nn::Hardtanh(nn::HardtanhOptions().min_val(-0.3).max_val(0.7)));
      }};
  for (const MemoryFormat format : {kLast, MemoryFormat::Contiguous})
    for (const ScalarType dtype : {kFloat, kHalf, kBFloat16, kDouble})
      for (const auto& [channels, clamp] :
           {std::pair(16, 0), std::pair(5, 0), std::pair(16, 1), std::pair(5, 2)}) {
        SCOPED_TRACE(channels);
        const ScalarType parameters = dtype == kDouble ? kDouble : kFloat;
        const Tensor x = (3 * randn({3, channels, 4, 5}) + 1).to(dtype);
        const Tensor grad = randn({3, channels, 4, 5}).to(dtype);
        nn::Sequential net{nn::BatchNorm2d(channels)};
        clamps[clamp](net);
        for (Tensor& p : net->parameters()) nn::init::normal_(p);
        nn::BatchNorm2d exact{nn::BatchNorm2dOptions(channels)};
        exact->to(kDouble);
        {
          const NoGradGuard guard;
          for (size_t i = 0; i < 2; ++i) exact->parameters()[i].copy_(net->parameters()[i]);
        }
        net->to(kCUDA, parameters);
        const auto leaf = [](const Tensor& t) { return t.detach().set_requires_grad(true); };
        Tensor here = leaf(x.to(kDouble)), there = leaf(x.cuda().contiguous(format));
        // Bounds are rounded to the type of what they clamp.
        const auto bound = [&](double value) {
          return tensor(value, kDouble).to(dtype).to(kDouble).item<double>();
        };
        constexpr double kNone = std::numeric_limits<double>::infinity();
        const double low = clamp == 2 ? bound(-0.3) : 0, high = clamp == 0   ? kNone
                                                                : clamp == 1 ? 6
                                                                             : bound(0.7);
        const Tensor normal = exact->forward(here), expected = normal.clamp(low, high);
        const int64_t before = cuda::stats().kernel_launches;
        const Tensor got = net->forward(there);
        EXPECT_TRUE(format != kLast || cuda::stats().kernel_launches - before == 2);
        // What is rounded to a bound passes no gradient. Row-major tensors are rounded afterwards.
        const Tensor result = (format == kLast ? got.cpu().to(kDouble) : expected).detach();
        const Tensor inside = (result > low).logical_and(result < high);
        normal.backward(where(inside, grad, zeros_like(grad)).to(kDouble));
        const Tensor grad_there = grad.cuda().contiguous(format);
        const int64_t middle = cuda::stats().kernel_launches;
        got.backward(grad_there);
        // Sums, the gradient of x: those of the parameters are taken as they are.
        EXPECT_TRUE(format != kLast || cuda::stats().kernel_launches - middle == 2);
        const double unit = last_place_of(dtype), of_sums = dtype == kDouble ? 1e-11 : 1e-3;
        EXPECT_EQ(got.dtype(), dtype);
        EXPECT_TRUE(got.is_contiguous(format));
        EXPECT_LE(furthest(got, expected.detach()), 16 * unit);
        EXPECT_LE(furthest(there.grad(), here.grad()), 16 * unit);
        for (size_t i = 0; i < 2; ++i)
          EXPECT_LE(furthest(net->parameters()[i].grad(), exact->parameters()[i].grad()), of_sums);
        EXPECT_EQ(net->buffers()[2].item<int64_t>(), 1);
      }
}

// The end of a residual block takes as many launches as batch norm.
TEST_F(ChannelsLastTest, BatchNormWithASumAndItsGradients) {
  for (const MemoryFormat format : {kLast, MemoryFormat::Contiguous})
    for (const ScalarType dtype : {kFloat, kHalf, kBFloat16, kDouble})
      for (const auto& [channels, clamps] :
           {std::pair(16, true), std::pair(5, true), std::pair(16, false), std::pair(5, false)}) {
        SCOPED_TRACE(channels);
        const Tensor x = (3 * randn({3, channels, 4, 5}) + 1).to(dtype),
                     identity = randn({3, channels, 4, 5}).to(dtype),
                     grad = randn({3, channels, 4, 5}).to(dtype);
        nn::BatchNorm2d norm(channels), exact(channels);
        for (Tensor& p : norm->parameters()) nn::init::normal_(p);
        exact->to(kDouble);
        {
          const NoGradGuard guard;
          for (size_t i = 0; i < 2; ++i) exact->parameters()[i].copy_(norm->parameters()[i]);
        }
        norm->to(kCUDA, dtype == kDouble ? kDouble : kFloat);
        const auto here = [](const Tensor& t) {
          return t.to(kDouble).detach().clone().set_requires_grad(true);
        };
        const auto there = [&](const Tensor& t) {
          return t.cuda().contiguous(format).detach().set_requires_grad(true);
        };
        const Tensor x_here = here(x), identity_here = here(identity), x_there = there(x),
                     identity_there = there(identity), grad_there = there(grad).detach();
        const Tensor sum = exact->forward(x_here) + identity_here,
                     expected = clamps ? relu(sum) : sum;
        const int64_t before = cuda::stats().kernel_launches;
        const Tensor got = clamps ? nn::detail::norm_add_relu(*norm, x_there, identity_there)
                                  : nn::detail::norm_add(*norm, x_there, identity_there);
        EXPECT_TRUE(format != kLast || cuda::stats().kernel_launches - before == 2);
        const int64_t middle = cuda::stats().kernel_launches;
        got.backward(grad_there);
        // The gradient of a sum is that of the result, of which a leaf keeps a copy.
        EXPECT_TRUE(format != kLast || cuda::stats().kernel_launches - middle == (clamps ? 2 : 3));
        // The sum is rounded once, so it may lie on the other side of 0: relu passes what it says.
        const Tensor passed =
            (clamps ? where(got.cpu() > 0, grad, zeros_like(grad)) : grad).to(kDouble);
        (exact->forward(x_here) + identity_here).backward(passed);
        const double unit = last_place_of(dtype), of_sums = dtype == kDouble ? 1e-11 : 1e-3;
        EXPECT_EQ(got.dtype(), dtype);
        EXPECT_TRUE(got.is_contiguous(format));
        EXPECT_LE(furthest(got, expected.detach()), 16 * unit);
        EXPECT_LE(furthest(x_there.grad(), x_here.grad()), 16 * unit);
        EXPECT_LE(furthest(identity_there.grad(), passed), 0);
        for (size_t i = 0; i < 2; ++i)
          EXPECT_LE(furthest(norm->parameters()[i].grad(), exact->parameters()[i].grad()), of_sums);
      }
}

TEST_F(ChannelsLastTest, Pools) {
  for (const ScalarType dtype : {kFloat, kHalf, kBFloat16}) {
    const Tensor x = randn({2, 6, 7, 5}).to(dtype);
    const auto check = [&](const auto& pool) {
      const Tensor here = x.to(kDouble).set_requires_grad(true),
                   there = last(x.cuda()).set_requires_grad(true);
      const Tensor expected = pool(here), got = pool(there);
      const Tensor grad = randn(expected.sizes()).to(dtype);
      expected.backward(grad.to(kDouble)), got.backward(grad.cuda());
      EXPECT_EQ(got.suggest_memory_format(), kLast);
      EXPECT_TRUE(there.grad().is_contiguous(kLast));
      EXPECT_LE(furthest(got, expected.detach()), 4 * last_place_of(dtype));
      EXPECT_LE(furthest(there.grad(), here.grad()), 4 * last_place_of(dtype));
    };
    check([](const Tensor& t) { return max_pool2d(t, 3, 2, 1); });
    check([](const Tensor& t) { return max_pool2d(t, 2); });
    check([](const Tensor& t) { return avg_pool2d(t, 3, 2, 1); });
    check([](const Tensor& t) { return adaptive_avg_pool2d(t, 1); });
    check([](const Tensor& t) { return adaptive_avg_pool2d(t, {3, 2}); });
  }
}

TEST_F(ChannelsLastTest, ATensorThatMovesKeepsTheFormat) {
  const Tensor x = randn({2, 3, 4, 5});
  const Tensor there = last(x).cuda();
  EXPECT_TRUE(there.is_contiguous(kLast));
  EXPECT_TRUE(there.cpu().is_contiguous(kLast));
  EXPECT_TRUE(there.cpu().equal(x));
  EXPECT_TRUE(x.to(TensorOptions(kCUDA).dtype(kHalf), false, false, kLast).is_contiguous(kLast));
}

// Counts launches that copy a tensor, to another type or order; their lines are kept. look() is to
// be called before more have run than are remembered.
class Copies {
 public:
  void look() {
    const int64_t now = cuda::stats().kernel_launches;
    std::istringstream newest_first(cuda::recent_launches());
    std::string line;
    for (; seen_ < now; ++seen_) {
      if (!std::getline(newest_first, line)) {
        ADD_FAILURE() << "more launches than are remembered";
        break;
      }
      if (line.find("Convert<") != line.npos || line.find("squares") != line.npos)
        lines_ += line + "\n", ++count_;
    }
    seen_ = now;
  }
  // How many there were since the last call.
  int64_t count() {
    look();
    return std::exchange(count_, 0);
  }
  std::string lines() { return std::exchange(lines_, ""); }

 private:
  int64_t seen_ = cuda::stats().kernel_launches, count_ = 0;
  std::string lines_;
};
template <class F>
int64_t copies(const F& f) {
  Copies all;
  f();
  return all.count();
}

TEST_F(ChannelsLastTest, AnAutocastStepOfAConvolutionConvertsItsParametersAlone) {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    nn::Conv2d layer(nn::Conv2dOptions(8, 16, 3).padding(1));
    layer->to(kCUDA);
    layer->weight.set_data(last(layer->weight.detach()));
    const Tensor x = last(randn({2, 8, 5, 5}).to(dtype).cuda()).set_requires_grad(true);
    Tensor y;
    amp::autocast guard(kCUDA, dtype);
    EXPECT_EQ(copies([&] { y = layer->forward(x); }), 2);  // weight, bias
    EXPECT_EQ(copies([&] { y = layer->forward(x); }), 0);  // which are kept
    const Tensor grad = last(randn({2, 16, 5, 5}).to(dtype).cuda());
    // Both gradients are made in the type of the parameters.
    EXPECT_EQ(copies([&] { y.backward(grad); }), 0);
    EXPECT_TRUE(y.is_contiguous(kLast));
    EXPECT_TRUE(x.grad().is_contiguous(kLast));
    EXPECT_TRUE(layer->weight.grad().is_contiguous(kLast));
    EXPECT_EQ(layer->weight.grad().dtype(), kFloat);
  }
}

// A change in place is one launch where no derivative reads the old value, and two more otherwise.
TEST_F(ChannelsLastTest, ChangesInPlaceStayAsTheyLie) {
  const Tensor x = last(randn({2, 8, 5, 5})).cuda().set_requires_grad(true);
  const Tensor grad = last(randn({2, 8, 5, 5})).cuda();
  const auto launches = [&](const auto& change) {
    Tensor y = x * 2;
    const int64_t before = cuda::stats().kernel_launches;
    change(y);
    const int64_t count = cuda::stats().kernel_launches - before;
    EXPECT_TRUE(y.is_contiguous(kLast));
    EXPECT_EQ(copies([&] { autograd::grad({y}, {x}, {grad}); }), 0);
    return count;
  };
  EXPECT_EQ(launches([](Tensor& y) { y.relu_(); }), 1);
  EXPECT_EQ(launches([&](Tensor& y) { y += x; }), 1);
  EXPECT_EQ(launches([](Tensor& y) { y.mul_(3).sigmoid_(); }), 2);
  EXPECT_EQ(launches([](Tensor& y) { y.sin_(); }), 3);
}

// The second step wants the weights of the first: one launch converts them.
TEST_F(ChannelsLastTest, AutocastConvertsTheWeightsOfAStepAtOnce) {
  nn::Conv2d first(nn::Conv2dOptions(8, 16, 3).padding(1)),
      second(nn::Conv2dOptions(16, 8, 3).padding(1));
  Tensors parameters;
  for (nn::Conv2d& layer : {std::ref(first), std::ref(second)}) {
    layer->to(kCUDA);
    layer->weight.set_data(last(layer->weight.detach()));
    parameters.push_back(layer->weight), parameters.push_back(layer->bias);
  }
  const Tensor x = last(randn({2, 8, 5, 5}).to(kBFloat16).cuda());
  const auto step = [&] {
    amp::autocast guard(kCUDA, kBFloat16);
    return second->forward(first->forward(x));
  };
  const auto gradients = [&](const Tensor& y) {
    return autograd::grad({y.to(kFloat).square().sum()}, parameters);
  };
  const Tensor y = step();
  const Tensors expected = gradients(y);
  const int64_t before = cuda::stats().kernel_launches;
  Tensor again;
  EXPECT_EQ(copies([&] { again = step(); }), 0);
  EXPECT_EQ(cuda::stats().kernel_launches - before, 1 + 2);
  EXPECT_TRUE(again.equal(y));
  const Tensors got = gradients(again);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i].equal(expected[i]));
  {  // one that has changed, and without a graph
    const NoGradGuard guard;
    parameters[1].add_(1);
    EXPECT_FALSE(step().equal(y));
    EXPECT_FALSE(step().requires_grad());
  }
  EXPECT_TRUE(gradients(step())[0].defined());  // the weights are recorded again
}

// Two convolutions with their norms, and the shortcut around them.
TEST_F(ChannelsLastTest, AResidualBlockCopiesNothingBetweenItsLayers) {
  constexpr int64_t kChannels = 16;
  const auto convolution = [&] {
    return nn::Conv2d(nn::Conv2dOptions(kChannels, kChannels, 3).padding(1).bias(false));
  };
  nn::Sequential inner(convolution(), nn::BatchNorm2d(kChannels), nn::ReLU(), convolution(),
                       nn::BatchNorm2d(kChannels));
  inner->to(kCUDA);
  for (Tensor& p : inner->parameters())
    if (p.dim() == 4) p.set_data(last(p.detach()));
  const Tensor x = last(randn({2, kChannels, 5, 5}).to(kBFloat16).cuda()).set_requires_grad(true);
  const Tensor grad = last(randn({2, kChannels, 5, 5}).to(kBFloat16).cuda());
  amp::autocast guard(kCUDA, kBFloat16);
  inner->forward(x);  // converts the weights
  Copies all;
  Tensor y = x;
  for (auto& layer : *inner) {
    y = layer.forward(y);
    y.register_hook([&](const Tensor&) { all.look(); });
    all.look();
  }
  y = relu(y + x);
  EXPECT_EQ(all.count(), 0) << all.lines();
  y.backward(grad);
  EXPECT_EQ(all.count(), 0) << all.lines();
  EXPECT_TRUE(y.is_contiguous(kLast));
  EXPECT_TRUE(x.grad().is_contiguous(kLast));
  for (const Tensor& p : inner->parameters()) EXPECT_EQ(p.grad().strides(), p.strides());
}

}  // namespace
}  // namespace gradus
