// DistributedDataParallel with gradients that travel in pieces, on the CPU and on CUDA devices.
#include <algorithm>
#include <mutex>

#include "gradus/autograd/engine/meta.h"
#include "gradus/distributed/distributed.h"
#include "gradus/distributed/job/shared_monitor.h"
#include "gradus/distributed/world.h"
#include "gradus/tensor/raw/raw.h"
#include "tests/piece_sizes.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace dist = distributed;
namespace F = nn::functional;
using nn::parallel::DistributedDataParallel;
using nn::parallel::DistributedDataParallelOptions;

// Two large weights, a small one, and one that is large and not of a linear layer.
struct TwiceNetImpl : nn::Module {
  TwiceNetImpl() {
    const auto values = [](IntArrayRef sizes, double scale) {
      const Tensor x = arange(numel_of(sizes), kDouble).reshape(sizes);
      return ((x * scale).sin() / 3).to(kFloat);
    };
    a = register_parameter("a", values({12, 9}, 0.7));
    a_bias = register_parameter("a_bias", values({12}, 1.1));
    b = register_parameter("b", values({12, 12}, 0.3));
    table = register_parameter("table", values({15, 12}, 0.9));
    head = register_parameter("head", values({2, 12}, 0.5));
  }
  // b_first: another order of the gradients.
  Tensor forward(const Tensor& x, bool b_first = false, bool uses_b = true) {
    Tensor y = F::linear(x, a, a_bias).tanh();
    if (b_first && uses_b) {
      const Tensor other = F::linear(y.detach(), b).tanh();
      return F::linear(F::linear(x, a, a_bias).tanh() + other + table.sum(0), head);
    }
    if (uses_b) y = F::linear(y, b).tanh();
    return F::linear(y + table.sum(0), head);
  }
  Tensor a, a_bias, b, table, head;
};
GRADUS_MODULE(TwiceNet);

Tensor inputs(int64_t rows, int rank, int step) {
  return (arange(rows * 9, kDouble) * 0.37 + 5 * rank + step).cos().reshape({rows, 9}).to(kFloat);
}
Tensor mean_square(const Tensor& y) { return y.square().mean(); }

using Pass = std::function<Tensor(TwiceNet&, const Tensor& x, int rank)>;

// The group of all ranks, with memory for gradients that it wants them to be in.
class SharingGroup final : public dist::ProcessGroup {
 public:
  SharingGroup(dist::Group inner, Device device)
      : ProcessGroup({"sharing", inner->ranks(), inner->rank(), dist::world("test").watch}),
        inner_(std::move(inner)),
        device_(device) {}
  ~SharingGroup() override { join(); }
  const char* backend() const override { return "sharing"; }
  void check_device(const char*, Device) const override {}
  StoragePtr allocate_shared(size_t nbytes) override {
    EXPECT_FALSE(shared_.defined());
    shared_ = raw::empty({static_cast<int64_t>(nbytes)}, kByte, device_);
    return shared_.impl().storage;
  }
  void all_reduce(const Tensor& x, dist::ReduceOp op) override {
    if (x.is_floating_point()) {
      const auto* begin = static_cast<const char*>(shared_.data_ptr());
      const auto* at = static_cast<const char*>(x.data_ptr());
      EXPECT_TRUE(at >= begin && at + x.nbytes() <= begin + shared_.nbytes()) << x.sizes();
    }
    inner_->all_reduce(x, op);
  }
  void broadcast(const Tensor& x, int root) override { inner_->broadcast(x, root); }
  void all_gather(const Tensor& out, const Tensor& in) override { inner_->all_gather(out, in); }
  void reduce_scatter(const Tensor&, const Tensor&, dist::ReduceOp) override { FAIL(); }
  void all_to_all(const Tensor&, const Counts&, const Tensor&, const Counts&) override { FAIL(); }
  void barrier() override { inner_->barrier(); }
  dist::WorkPtr send(const Tensor&, int, int) override { return nullptr; }
  dist::WorkPtr recv(const Tensor&, int, int) override { return nullptr; }

 private:
  dist::Group inner_;
  Device device_;
  Tensor shared_;
};

class DdpPieces : public testing::TestWithParam<std::tuple<DeviceType, int, bool>> {
 protected:
  void SetUp() override {
    if (type() == kCUDA && !cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  }
  DeviceType type() const { return std::get<0>(GetParam()); }
  int size() const { return std::get<1>(GetParam()); }
  Device device(int rank) const {
    return type() == kCPU ? Device(kCPU)
                          : Device(kCUDA, static_cast<DeviceIndex>(rank % cuda::device_count()));
  }
  DistributedDataParallelOptions options(int rank, double cap = 0) const {
    DistributedDataParallelOptions chosen;
    if (std::get<2>(GetParam()))
      chosen.process_group(std::make_shared<SharingGroup>(dist::world_group("test"), device(rank)));
    return chosen.bucket_cap_mb(cap).find_unused_parameters(true);
  }
  // What all ranks' losses give together.
  Tensors expected(int step, const Pass& pass) const {
    TwiceNet net;
    for (int r = 0; r < size(); ++r) (pass(net, inputs(3, r, step), r) / size()).backward();
    Tensors grads;
    for (const Tensor& x : net->parameters()) grads.push_back(x.grad());
    return grads;
  }
  void expect_gradients(const nn::Module& net, const Tensors& wanted, const std::string& what) {
    const Tensors parameters = net.parameters();
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(parameters[i].grad().defined(), wanted[i].defined()) << what << i;
      if (!wanted[i].defined()) continue;
      EXPECT_TRUE(allclose(parameters[i].grad().cpu(), wanted[i], 1e-4, 1e-6)) << what << i;
    }
  }
  // Three steps of DDP against that; the order of the buckets changes after the first one.
  void compare(const Pass& pass, double cap = 0) {
    std::vector<Tensors> wanted;
    for (int step = 0; step < 3; ++step) wanted.push_back(expected(step, pass));
    const SmallPieces small;
    dist::spawn_threads(size(), [&](int rank) {
      TwiceNet net;
      net->to(device(rank));
      DistributedDataParallel model(net, options(rank, cap));
      for (int step = 0; step < 3; ++step) {
        model->zero_grad();
        const Tensor x = inputs(3, rank, step).to(device(rank));
        model(x);  // prepares; what counts is the pass
        pass(net, x, rank).backward();
        expect_gradients(*net, wanted[static_cast<size_t>(step)], "step " + std::to_string(step));
      }
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, DdpPieces,
                         testing::Combine(testing::Values(kCPU, kCUDA), testing::Values(1, 2, 3),
                                          testing::Bool()));

TEST_P(DdpPieces, GiveTheGradientsOfTheWholeBatch) {
  for (const double cap : {0.0, 1e-3, 25.0})
    compare([](TwiceNet& net, const Tensor& x, int) { return mean_square(net(x)); }, cap);
}

TEST_P(DdpPieces, ArriveInAnotherOrderAtEachRank) {
  compare(
      [](TwiceNet& net, const Tensor& x, int rank) { return mean_square(net(x, rank % 2 == 1)); });
}

TEST_P(DdpPieces, AreLeftOutWhereAParameterIsUnused) {
  compare([](TwiceNet& net, const Tensor& x, int rank) {
    return mean_square(net(x, false, rank > 0));
  });
}

TEST_P(DdpPieces, StayWholeWhereAParameterIsUsedTwice) {
  compare([](TwiceNet& net, const Tensor& x, int rank) {
    const Tensor y = mean_square(net(x));
    return rank == 0 ? y + F::linear(x, net->a).square().mean() : y;
  });
}

TEST_P(DdpPieces, WaitForTheStepThatAverages) {
  const auto pass = [](TwiceNet& net, const Tensor& x, int) { return mean_square(net(x)); };
  Tensors wanted = expected(0, pass);
  const Tensors more = expected(1, pass);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] += more[i];
  const SmallPieces small;
  dist::spawn_threads(size(), [&](int rank) {
    TwiceNet net;
    net->to(device(rank));
    DistributedDataParallel model(net, options(rank));
    {
      const auto guard = model->no_sync();
      mean_square(model(inputs(3, rank, 0).to(device(rank)))).backward();
    }
    mean_square(model(inputs(3, rank, 1).to(device(rank)))).backward();
    expect_gradients(*net, wanted, "accumulated");
  });
}

// In shared memory the next step takes their place: these have moved by then.
TEST_P(DdpPieces, LeaveAGradientToWhoeverHoldsIt) {
  const auto pass = [](TwiceNet& net, const Tensor& x, int) { return mean_square(net(x)); };
  std::vector<Tensors> wanted;
  for (int step = 0; step < 4; ++step) wanted.push_back(expected(step, pass));
  const SmallPieces small;
  dist::spawn_threads(size(), [&](int rank) {
    TwiceNet net;
    net->to(device(rank));
    DistributedDataParallel model(net, options(rank));
    std::vector<Tensors> held;
    for (int step = 0; step < 4; ++step) {
      mean_square(model(inputs(3, rank, step).to(device(rank)))).backward();
      held.emplace_back();
      for (const Tensor& x : net->parameters()) held.back().push_back(x.grad());
      if (step == 2) continue;  // the next one is added to it
      model->zero_grad();
    }
    const size_t count = held[0].size();
    for (size_t i = 0; i < count; ++i) {
      for (const size_t step : {0, 1})
        EXPECT_TRUE(allclose(held[step][i].cpu(), wanted[step][i], 1e-4, 1e-6)) << step << i;
      EXPECT_TRUE(allclose(held[3][i].cpu(), wanted[2][i] + wanted[3][i], 1e-4, 1e-6)) << i;
    }
  });
}

TEST_P(DdpPieces, AreJoinedByRanksWithoutBatches) {
  const SmallPieces small;
  for (const bool by_all : {true, false})
    dist::spawn_threads(size(), [&](int rank) {
      TwiceNet net;
      net->to(device(rank));
      DistributedDataParallel model(net, options(rank));
      model->join(
          [&] {
            for (int step = 0; step <= rank; ++step) {
              model->zero_grad();
              mean_square(model(inputs(3, rank, step).to(device(rank)))).backward();
              TwiceNet alone;
              const int active = size() - step;
              for (int r = step; r < size(); ++r)
                (mean_square(alone(inputs(3, r, step))) / (by_all ? size() : active)).backward();
              Tensors wanted;
              for (const Tensor& x : alone->parameters()) wanted.push_back(x.grad());
              expect_gradients(*net, wanted, "step " + std::to_string(step));
            }
          },
          by_all);
    });
}

// A rank alone that notes what it was asked for.
class NotingGroup final : public dist::ProcessGroup {
 public:
  explicit NotingGroup(std::shared_ptr<dist::Watch> watch)
      : ProcessGroup({"noting", {0}, 0, std::move(watch)}) {}
  ~NotingGroup() override { join(); }
  const char* backend() const override { return "noting"; }
  void check_device(const char*, Device) const override {}
  void broadcast(const Tensor&, int) override {}
  void all_reduce(const Tensor& x, dist::ReduceOp) override {
    const std::lock_guard lock(mutex_);
    sizes_.push_back(x.numel());
  }
  void all_gather(const Tensor&, const Tensor&) override {}
  void reduce_scatter(const Tensor&, const Tensor&, dist::ReduceOp) override {}
  void all_to_all(const Tensor&, const Counts&, const Tensor&, const Counts&) override {}
  void barrier() override {}
  dist::WorkPtr send(const Tensor&, int, int) override { return nullptr; }
  dist::WorkPtr recv(const Tensor&, int, int) override { return nullptr; }

  std::vector<int64_t> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(sizes_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<int64_t> sizes_;
};

std::shared_ptr<NotingGroup> noting_group() {
  const auto shared = std::make_shared<dist::SharedMonitor>(std::chrono::milliseconds(20000));
  return std::make_shared<NotingGroup>(std::make_shared<dist::SharedWatch>(shared, 0));
}

TEST(DdpPiecesAlone, TheCallsOfABucketDependOnItsSizeAlone) {
  const SmallPieces small;
  dist::spawn_threads(1, [](int) {
    const auto group = noting_group();
    TwiceNet net;
    DistributedDataParallel model(
        net, DistributedDataParallelOptions().bucket_cap_mb(0).process_group(group));
    // Two rows of a weight are a piece; a_bias and head are small.
    std::vector<int64_t> calls(6, 18);         // a
    calls.insert(calls.end(), {12, 12});       // a_bias, the last row of table
    calls.insert(calls.end(), 6 + 7 + 1, 24);  // b, table, head
    std::sort(calls.begin(), calls.end());
    const auto calls_of = [&](const Pass& pass) {
      model->zero_grad();
      const Tensor x = inputs(3, 0, 0);
      model(x);
      group->take();
      pass(net, x, 0).backward();
      std::vector<int64_t> all = group->take();
      std::sort(all.begin(), all.end());
      return all;
    };
    EXPECT_EQ(calls_of([](TwiceNet& n, const Tensor& x, int) { return mean_square(n(x)); }), calls);
    EXPECT_EQ(calls_of([](TwiceNet& n, const Tensor& x, int) { return mean_square(n(x, true)); }),
              calls);
    EXPECT_EQ(calls_of([](TwiceNet& n, const Tensor& x, int) {  // whole
                return mean_square(n(x)) + n->a.sum() + n->b.sum();
              }),
              calls);
  });
}

// What a hook of another tensor does while pieces are under way.
struct Replace final : autograd::FunctionPostHook {
  explicit Replace(const Tensor& of) : x(of) {}
  Tensors operator()(const Tensors& outputs, const Tensors&) override {
    x.mutable_grad() = zeros_like(x.detach());
    return outputs;
  }
  Tensor x;
};

TEST(DdpPiecesAlone, AGradientThatIsReplacedMeanwhileIsRefused) {
  const SmallPieces small;
  dist::spawn_threads(1, [](int) {
    nn::Linear net(9, 12);
    DistributedDataParallel model(net, DistributedDataParallelOptions().bucket_cap_mb(0));
    const Tensor x = inputs(3, 0, 0).requires_grad_();
    const auto accumulator = gradient_edge(x).function;
    for (int step = 0; step < 2; ++step) {  // the first one shows the order of the gradients
      model->zero_grad();
      if (step > 0) accumulator->add_post_hook(std::make_unique<Replace>(net->weight));
      const Tensor loss = mean_square(model(x));
      if (step == 0)
        loss.backward();
      else
        expect_error<Error>(
            [&] { loss.backward(); },
            "the gradient of parameter 'weight' was replaced while it was computed");
    }
    model->zero_grad();
    mean_square(model(inputs(3, 0, 0))).backward();  // goes on
    EXPECT_TRUE(net->weight.grad().defined());
  });
}

}  // namespace
}  // namespace gradus
