// State that goes from the module to the replicas, and back.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "tests/nn/parallel/nets.h"

namespace gradus {
namespace {

const Devices kThree(3, kCPU);

// Devices that copies of parameters must reach: the CPU's, and all GPUs where there are any.
std::vector<Devices> several() {
  std::vector<Devices> lists{kThree};
  for (const Devices& devices : device_lists())
    if (devices.size() > 1 && devices[0].is_cuda()) lists.push_back(devices);
  return lists;
}

TEST(State, SeesParametersThatChange) {
  for (const Devices& devices : several()) {
    SCOPED_TRACE(name_of(devices));
    Mlp net(3, 4, 2);
    net->to(devices[0]);
    nn::DataParallel parallel(net, devices);
    const Tensor x = randn({7, 3}).to(devices[0]);
    const auto agrees = [&](const char* after) {
      expect_values(parallel(x), to_vector(net(x)), 1e-5);
      EXPECT_FALSE(testing::Test::HasFailure()) << after;
    };
    agrees("the start");
    agrees("nothing");
    optim::SGD sgd(parallel->parameters(), 0.1);
    parallel(x).sum().backward();
    sgd.step();
    agrees("a step");
    {
      const NoGradGuard guard;
      net->scale.mul_(3);
      net->head->weight[0].fill_(2);
    }
    agrees("changes in place");
    net->head->bias.set_data(randn({2}).to(devices[0]));
    agrees("set_data");
    {
      const NoGradGuard guard;
      net->head->bias.data().add_(1);
    }
    agrees("a change through data()");
    net->to(kDouble);
    const Tensor wide = x.to(kDouble);
    expect_values(parallel(wide), to_vector(net(wide)), 1e-12);
    parallel(wide).sum().backward();
    EXPECT_EQ(net->scale.grad().dtype(), kDouble);
  }
}

TEST(State, WithoutChangesNothingIsCopied) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  Mlp net(3, 4, 2);
  net->to(Device(kCUDA, 0));
  nn::DataParallel parallel(net, {0, 1});
  const NoGradGuard guard;
  const Tensor x = randn({2, 3}).to(Device(kCUDA, 0));
  const auto copies = [&] {
    const auto before = cuda::stats().device_to_device;
    parallel(x);
    return cuda::stats().device_to_device - before;
  };
  EXPECT_EQ(copies(), 9);  // of the input, the output, and each of seven tensors
  EXPECT_EQ(copies(), 2);
  net->scale.mul_(2);
  EXPECT_EQ(copies(), 3);
}

TEST(State, FrozenAndUnusedParametersGetNoGradient) {
  for (const Devices& devices : several()) {
    Mlp net(3, 4, 2);
    net->to(devices[0]);
    nn::DataParallel parallel(net, devices);
    const Tensor x = randn({7, 3}).to(devices[0]);
    net->head->weight.set_requires_grad(false);
    parallel(x).sum().backward();
    EXPECT_FALSE(net->head->weight.grad().defined());
    EXPECT_TRUE(net->head->bias.grad().defined());
    net->head->weight.set_requires_grad(true);
    net->scale.set_requires_grad(false);
    net->zero_grad();
    parallel(x).sum().backward();
    EXPECT_TRUE(net->head->weight.grad().defined());
    EXPECT_FALSE(net->scale.grad().defined());
    for (const Tensor& p : net->parameters()) p.set_requires_grad(false);
    EXPECT_FALSE(parallel(x).requires_grad());
  }
}

// Uses its second parameter for some inputs alone.
struct SometimesImpl : nn::Cloneable<SometimesImpl> {
  SometimesImpl() { reset(); }
  void reset() override {
    a = register_parameter("a", full({1}, 2.0));
    b = register_parameter("b", full({1}, 5.0));
    never = register_parameter("never", ones({1}));
  }
  Tensor forward(const Tensor& x) { return x[0].item<double>() > 0 ? x * a * b : x * a; }
  Tensor a, b, never;
};
GRADUS_MODULE(Sometimes);

TEST(State, AParameterMayBeUsedInSomeReplicasAlone) {
  Sometimes net;
  nn::DataParallel parallel(net, {kCPU, kCPU, kCPU});
  for (int round = 0; round < 2; ++round) {
    net->zero_grad();
    parallel(tensor({-1.f, 2.f, 3.f})).sum().backward();
    expect_values(net->a.grad(), {-1 + 10 + 15});
    expect_values(net->b.grad(), {4 + 6});
    EXPECT_FALSE(net->never.grad().defined());
  }
  net->zero_grad();
  parallel(tensor({-1.f, -2.f, -3.f})).sum().backward();
  EXPECT_FALSE(net->b.grad().defined());
  expect_values(net->a.grad(), {-6});
}

// The first replica shares the original's count of changes; the others have their own.
TEST(State, AnUpdateBetweenForwardAndBackwardIsAnErrorInEveryReplica) {
  Sometimes net;
  nn::DataParallel parallel(net, {kCPU, kCPU});
  const Tensor first = parallel(tensor({-1.f, 2.f})).sum();  // b is used in replica 1 alone
  {
    const NoGradGuard guard;
    net->b.mul_(2);
  }
  const Tensor second = parallel(tensor({-1.f, 2.f})).sum();
  expect_error<Error>([&] { first.backward(); }, "modified by an inplace operation");
  second.backward();
}

struct TiedImpl : nn::Cloneable<TiedImpl> {
  TiedImpl() { reset(); }
  void reset() override {
    in = register_module("in", nn::Linear(nn::LinearOptions(4, 4).bias(false)));
    again = register_parameter("again", in->weight);
  }
  Tensor forward(const Tensor& x) { return in(x).tanh().matmul(again); }
  nn::Linear in{nullptr};
  Tensor again;
};
GRADUS_MODULE(Tied);

TEST(State, SharedParameters) {
  for (const Devices& devices : several()) {
    Tied net;
    net->to(devices[0]);
    const Tensor x = randn({7, 4}).to(devices[0]);
    net(x).sum().backward();
    const auto expected = to_vector(net->again.grad());
    net->zero_grad();
    nn::DataParallel parallel(net, devices);
    for (int round = 1; round <= 2; ++round) {
      parallel(x).sum().backward();
      expect_values(net->in->weight.grad(), to_vector(net->again.grad()));
      std::vector<double> sum;
      for (const double value : expected) sum.push_back(round * value);
      expect_values(net->again.grad(), sum, 1e-5);
    }
  }
}

TEST(State, WhatIsSavedOfOneIsLoadedIntoTheOther) {
  const std::string path =
      testing::TempDir() + "gradus_data_parallel_" + std::to_string(getpid()) + ".safetensors";
  const Mlp net(3, 4, 2), other(3, 4, 2), third(3, 4, 2);
  nn::DataParallel parallel(net, kThree), parallel_other(other, kThree);
  save(parallel, path);
  Mlp loaded = third;
  load(loaded, path);
  EXPECT_TRUE(same_bits(third->head->weight, net->head->weight));
  other->load_state_dict(parallel->state_dict());
  EXPECT_TRUE(same_bits(other->head->weight, net->head->weight));
  {
    const NoGradGuard guard;
    net->head->weight.mul_(2);
  }
  save(net, path);
  load(parallel_other, path);
  EXPECT_TRUE(same_bits(other->head->weight, net->head->weight));
  parallel->load_state_dict(third->state_dict());
  EXPECT_TRUE(same_bits(third->head->weight, net->head->weight));
  std::remove(path.c_str());
}

// Counts what it has seen, in a buffer.
struct CountingImpl : nn::Cloneable<CountingImpl> {
  CountingImpl() { reset(); }
  void reset() override {
    rows = register_buffer("rows", zeros({1}, kLong));
    mean = register_buffer("mean", zeros({2}));
    drop = register_module("drop", nn::ReLU());
  }
  Tensor forward(const Tensor& x) {
    if (!is_training()) return x + mean;
    const NoGradGuard guard;
    EXPECT_EQ(rows.item<int64_t>(), seen_before);
    rows.add_(x.size(0));
    mean.copy_(x.mean(0));
    return x * (drop->is_training() ? 2 : 3);
  }
  static inline int64_t seen_before = 0;
  Tensor rows, mean;
  nn::ReLU drop;
};
GRADUS_MODULE(Counting);

TEST(State, TheFirstReplicasBuffersStay) {
  for (const Devices& devices : several()) {
    Counting net;
    net->to(devices[0]);
    nn::DataParallel parallel(net, devices);
    const Tensor x = arange(14, kFloat).reshape({7, 2}).to(devices[0]);
    const int64_t share =
        (7 + static_cast<int64_t>(devices.size()) - 1) / static_cast<int64_t>(devices.size());
    for (int64_t step = 0; step < 3; ++step) {
      CountingImpl::seen_before = step * share;  // in every replica
      parallel(x);
    }
    EXPECT_EQ(net->rows.item<int64_t>(), 3 * share);
    expect_values(net->mean, to_vector(x.narrow(0, 0, share).mean(0)));
    net->eval();
    expect_values(parallel(x), to_vector(x + net->mean));  // in every replica
    CountingImpl::seen_before = 0;
  }
}

TEST(State, TrainingFlagsOfEveryPartFollow) {
  Counting net;
  nn::DataParallel parallel(net, {kCPU, kCPU});
  const Tensor x = ones({2, 2});
  const auto run = [&] {
    net->rows.zero_();
    return parallel(x)[1][0].item<double>();
  };
  EXPECT_EQ(run(), 2);
  net->drop->eval();
  EXPECT_EQ(run(), 3);
  parallel->eval();
  EXPECT_FALSE(net->is_training());
  EXPECT_EQ(run(), 2);  // x + mean
  parallel->train();
  EXPECT_EQ(run(), 2);
}

struct FactorImpl : nn::Cloneable<FactorImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) { return x * factor; }
  double factor = 1;
};
GRADUS_MODULE(Factor);

TEST(State, ReplicateTakesNotesOfWhatIsNoTensor) {
  Factor net;
  nn::DataParallel parallel(net, {kCPU, kCPU});
  parallel(ones({2}));  // makes the replicas
  net->factor = 4;
  expect_values(parallel(ones({2})), {1, 1});
  parallel->replicate();
  expect_values(parallel(ones({2})), {4, 4});
}

TEST(State, HasTheModulesNames) {
  Mlp net(3, 4, 2);
  nn::DataParallel parallel(net, kThree);
  EXPECT_EQ(parallel->named_parameters().keys(), net->named_parameters().keys());
  Counting counting;
  EXPECT_EQ(nn::DataParallel(counting, kThree)->named_buffers().keys(),
            counting->named_buffers().keys());
  for (const auto& item : parallel->named_parameters())
    EXPECT_TRUE(item.value().is_same(net->named_parameters()[item.key()]));
  EXPECT_EQ(parallel->module().get(), net.ptr().get());
  EXPECT_EQ(parallel->device_ids(), kThree);
  EXPECT_EQ(parallel->output_device(), Device(kCPU));
  EXPECT_EQ(parallel->dim(), 0);
}

TEST(State, WithoutGradientsNothingIsRecorded) {
  Mlp net(3, 4, 2);
  nn::DataParallel parallel(net, kThree);
  {
    const NoGradGuard guard;
    EXPECT_FALSE(parallel(ones({5, 3})).requires_grad());
  }
  {
    const InferenceMode guard;
    EXPECT_TRUE(parallel(ones({5, 3})).is_inference());
  }
  EXPECT_EQ(parallel(ones({5, 3})).grad_fn()->name(), "CatBackward0");
}

}  // namespace
}  // namespace gradus
