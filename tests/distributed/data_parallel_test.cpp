// DistributedDataParallel against one process that trains on the whole batch.
#include <numeric>
#include <thread>

#include "gradus/distributed/distributed.h"
#include "gradus/distributed/world.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace dist = distributed;
using nn::parallel::DistributedDataParallel;
using nn::parallel::DistributedDataParallelOptions;

struct NetImpl : nn::Module {
  explicit NetImpl(uint64_t seed = 1) {
    manual_seed(seed);
    fc1 = register_module("fc1", nn::Linear(5, 8));
    fc2 = register_module("fc2", nn::Linear(8, 3));
    seen = register_buffer("seen", zeros({1}));
    to(kDouble);
  }
  Tensor forward(const Tensor& x) {
    seen += 1;
    return fc2(tanh(fc1(x)));
  }
  nn::Linear fc1{nullptr}, fc2{nullptr};
  Tensor seen;
};
GRADUS_MODULE(Net);

std::mutex seeds;  // the default generator is of the process
Net make_net(uint64_t seed) {
  const std::lock_guard lock(seeds);
  return Net(seed);
}
Tensor inputs(int64_t rows, uint64_t seed) {
  const std::lock_guard lock(seeds);
  manual_seed(seed);
  return randn({rows, 5}, kDouble);
}
Tensor loss_of(const Tensor& y) { return y.square().mean(); }

void expect_close(const nn::Module& a, const nn::Module& b, double tolerance = 1e-12) {
  for (const auto& item : a.named_parameters())
    EXPECT_TRUE(allclose(item.value(), b.named_parameters()[item.key()], tolerance, tolerance))
        << item.key();
}

class Ddp : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Ddp, testing::Values(1, 2, 3, 4, 8));

TEST_P(Ddp, TrainsAsOneProcessDoesOnTheWholeBatch) {
  const int size = GetParam();
  for (const double cap : {25.0, 1e-4, 0.0}) {
    Net alone = make_net(3);
    optim::SGD alone_sgd(alone->parameters(), optim::SGDOptions(0.1).momentum(0.9));
    for (int step = 0; step < 4; ++step) {
      alone_sgd.zero_grad();
      loss_of(alone(inputs(2 * size, step))).backward();
      alone_sgd.step();
    }
    dist::spawn_threads(size, [&](int rank) {
      Net net = make_net(rank == 0 ? 3 : 50 + rank);  // rank 0's are what counts
      DistributedDataParallel model(net, DistributedDataParallelOptions().bucket_cap_mb(cap));
      EXPECT_EQ(model->named_parameters().keys(), net->named_parameters().keys());
      optim::SGD sgd(model->parameters(), optim::SGDOptions(0.1).momentum(0.9));
      for (int step = 0; step < 4; ++step) {
        sgd.zero_grad();
        loss_of(model(inputs(2 * size, step).narrow(0, 2 * rank, 2))).backward();
        sgd.step();
      }
      expect_close(*net, *alone);
    });
  }
}

TEST(Ddp, GradientsTravelInTheOrderOfTheirArrival) {
  dist::spawn_threads(2, [](int) {
    Net net = make_net(1);
    DistributedDataParallel model(net, DistributedDataParallelOptions().bucket_cap_mb(0));
    // fc2.bias, fc2.weight, fc1.bias, fc1.weight: the reverse order of registration.
    EXPECT_EQ(model->bucket_sizes(), (std::vector<size_t>{24, 192, 64, 320}));
    // Now fc1 has its gradients first.
    const Tensor x = inputs(2, 1);
    Tensor y = net->fc2->forward(x.sum() * ones({1, 8}, kDouble));
    loss_of(model(x) * 0 + y * 0 + net->fc1->forward(x).sum()).backward();
    const auto sizes = model->bucket_sizes();
    EXPECT_EQ(std::vector<size_t>(sizes).size(), 4U);
    EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), size_t{0}), 600U);
  });
}

// A rank's thread reads the gradients of another that has ended its pass and awaits averages.
TEST(Ddp, ARankOfThreadsMayBeLateOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  dist::spawn_threads(3, [](int rank) {
    const Device device(kCUDA, static_cast<DeviceIndex>(rank % cuda::device_count()));
    Net net = make_net(1);
    net->to(device);
    DistributedDataParallel model(net);
    for (int step = 0; step < 4; ++step) {
      model->zero_grad();
      const Tensor loss = loss_of(model(inputs(2, static_cast<uint64_t>(rank)).to(device)));
      if (rank == step % 3) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      loss.backward();
      for (const Tensor& x : net->parameters()) {
        const Tensor sum = x.grad().cpu();
        dist::all_reduce(sum);
        EXPECT_TRUE(allclose(sum, x.grad().cpu() * 3, 1e-12)) << step;
      }
    }
  });
}

TEST(Ddp, GradientsOutliveTheGroup) {
  std::weak_ptr<dist::ProcessGroup> group;
  Tensor grad;
  const Device device = cuda::is_available() ? Device(kCUDA) : Device(kCPU);
  dist::spawn_threads(1, [&](int) {
    group = dist::world_group("test");
    Net net = make_net(1);
    net->to(device);
    DistributedDataParallel model(net);
    loss_of(model(inputs(2, 1).to(device))).backward();
    grad = net->fc2->bias.grad();
  });
  EXPECT_TRUE(group.expired());
  EXPECT_GT(grad.abs().sum().item<double>(), 0);
}

TEST(Ddp, NoSyncAccumulatesAndTheNextStepAveragesAll) {
  dist::spawn_threads(3, [](int rank) {
    Net net = make_net(1);
    DistributedDataParallel model(net);
    {
      const auto guard = model->no_sync();
      loss_of(model(inputs(2, rank))).backward();
    }
    const Tensor local = net->fc1->weight.grad().clone();
    Net alone = make_net(1);
    loss_of(alone(inputs(2, rank))).backward();
    EXPECT_TRUE(allclose(local, alone->fc1->weight.grad()));
    loss_of(model(inputs(2, 10 + rank))).backward();
    Net sum = make_net(1);
    for (int r = 0; r < 3; ++r)
      for (const int seed : {r, 10 + r}) (loss_of(sum(inputs(2, seed))) / 3).backward();
    EXPECT_TRUE(allclose(net->fc1->weight.grad(), sum->fc1->weight.grad(), 1e-10, 1e-12));
    EXPECT_TRUE(allclose(net->fc2->bias.grad(), sum->fc2->bias.grad(), 1e-10, 1e-12));
  });
}

TEST(Ddp, BuffersAreThoseOfTheFirstRank) {
  for (const bool shared : {true, false})
    dist::spawn_threads(2, [&](int rank) {
      Net net = make_net(1);
      DistributedDataParallel model(net,
                                    DistributedDataParallelOptions().broadcast_buffers(shared));
      net->seen.fill_(10 * rank);
      model(inputs(1, 1));
      expect_values(net->seen, {shared ? 1.0 : 10.0 * rank + 1});
      const NoGradGuard guard;  // one rank may evaluate alone
      if (rank == 0) model(inputs(1, 1));
    });
}

struct BranchesImpl : nn::Module {
  BranchesImpl() {
    a = register_module("a", nn::Linear(2, 2));
    b = register_module("b", nn::Linear(2, 2));
    c = register_module("c", nn::Linear(2, 2));
    to(kDouble);
    for (const Tensor& x : parameters()) {
      const NoGradGuard guard;
      x.fill_(0.5);
    }
  }
  Tensor forward(const Tensor& x, bool use_b) { return use_b ? b(a(x)) : a(x); }
  nn::Linear a{nullptr}, b{nullptr}, c{nullptr};
};
GRADUS_MODULE(Branches);

TEST(Ddp, UnusedParametersCountAsZeroWhereAnotherRankHasThem) {
  dist::spawn_threads(3, [](int rank) {
    Branches net;
    DistributedDataParallel model(net,
                                  DistributedDataParallelOptions().find_unused_parameters(true));
    for (int step = 0; step < 2; ++step) {
      model->zero_grad();
      model(ones({1, 2}, kDouble), rank == 1).sum().backward();
      expect_values(net->b->bias.grad(), {1.0 / 3, 1.0 / 3});
      expect_values(net->a->bias.grad(), {1, 1});  // 1 of each rank: W of b sums to 1
      EXPECT_FALSE(net->c->weight.grad().defined());
    }
  });
}

TEST(Ddp, UnusedParametersAreNamed) {
  const auto run = [](int size) {
    dist::spawn_threads(size, [](int) {
      Branches net;
      DistributedDataParallel model(net);
      model(ones({1, 2}, kDouble), false).sum().backward();
    });
  };
  for (const int size : {1, 2})
    EXPECT_THROW(
        try { run(size); } catch (const Error& e) {
          EXPECT_NE(std::string(e.what()).find("'b.weight', 'b.bias', 'c.weight', 'c.bias'"),
                    std::string::npos)
              << e.what();
          EXPECT_NE(std::string(e.what()).find("find_unused_parameters"), std::string::npos);
          throw;
        },
        Error);
}

TEST(Ddp, AParameterThatIsFrozenLaterIsUnused) {
  for (const bool finds : {true, false})
    dist::spawn_threads(2, [&](int rank) {
      Net net = make_net(1);
      DistributedDataParallel model(net,
                                    DistributedDataParallelOptions().find_unused_parameters(finds));
      net->fc1->weight.requires_grad_(false);
      const auto step = [&] { loss_of(model(inputs(2, static_cast<uint64_t>(rank)))).backward(); };
      if (!finds) return expect_error<Error>(step, "'fc1.weight'");
      step();
      EXPECT_FALSE(net->fc1->weight.grad().defined());
      EXPECT_TRUE(net->fc1->bias.grad().defined());
      net->fc1->weight.requires_grad_(true);
      step();
      Tensor sum = net->fc1->weight.grad().clone();
      dist::all_reduce(sum);
      EXPECT_TRUE(equal(sum, net->fc1->weight.grad() * 2));  // both have the average
    });
}

TEST(Ddp, UnevenBatchesAreJoined) {
  // Rank r has r + 1 batches; with batches that all ranks lack, gradients of zero.
  const int size = 3;
  for (const bool by_all : {true, false}) {
    Net alone = make_net(1);
    optim::SGD alone_sgd(alone->parameters(), 0.1);
    for (int step = 0; step < size; ++step) {
      alone_sgd.zero_grad();
      for (int r = step; r < size; ++r)
        (loss_of(alone(inputs(2, 10 * r + step))) / (by_all ? size : size - step)).backward();
      alone_sgd.step();
    }
    dist::spawn_threads(size, [&](int rank) {
      Net net = make_net(rank);
      {
        const Net first = make_net(1);
        const NoGradGuard guard;
        for (const auto& item : first->named_parameters())
          net->named_parameters()[item.key()].copy_(item.value());
      }
      DistributedDataParallel model(net);
      optim::SGD sgd(model->parameters(), 0.1);
      model->join(
          [&] {
            for (int step = 0; step <= rank; ++step) {
              sgd.zero_grad();
              loss_of(model(inputs(2, 10 * rank + step))).backward();
              sgd.step();
            }
          },
          by_all);
      expect_close(*net, *alone);
      expect_values(net->seen, {3});
      // Ordinary steps go on afterwards.
      sgd.zero_grad();
      loss_of(model(inputs(2, rank))).backward();
    });
  }
}

TEST(Ddp, JoinWhereRanksHaveNoBatchAtAll) {
  for (const int busy : {0, 1})
    dist::spawn_threads(2, [&](int rank) {
      Net net = make_net(1);
      DistributedDataParallel model(net, DistributedDataParallelOptions().bucket_cap_mb(1e-4));
      model->join([&] {
        if (rank == busy)
          for (int step = 0; step < 3; ++step) loss_of(model(inputs(2, step))).backward();
      });
      model->join([] {});
    });
}

TEST(Ddp, WithoutJoinTheOthersAreTold) {
  try {
    dist::spawn_threads(2, [](int rank) {
      Net net = make_net(1);
      DistributedDataParallel model(net);
      for (int step = 0; step <= rank; ++step) loss_of(model(inputs(2, step))).backward();
    });
    FAIL() << "nothing was thrown";
  } catch (const dist::DistributedError& error) {
    EXPECT_NE(std::string(error.what()).find("rank 0 has left the job, while rank 1 waits"),
              std::string::npos)
        << error.what();
  }
}

TEST(Ddp, DifferentModulesAreRefusedAtEveryRank) {
  const auto message = [](const std::function<nn::Linear(int)>& make) {
    std::string text;
    std::mutex mutex;
    dist::spawn_threads(3, [&](int rank) {
      nn::Linear net = make(rank);
      try {
        DistributedDataParallel model(net);
        ADD_FAILURE() << "nothing was thrown";
      } catch (const ValueError& error) {
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(text.empty() || text == error.what()) << error.what();
        text = error.what();
      }
    });
    return text;
  };
  EXPECT_NE(message([](int rank) { return nn::Linear(2, rank == 2 ? 4 : 3); })
                .find("rank 0 has parameter 'weight' float32 [3, 2], rank 2 has parameter "
                      "'weight' float32 [4, 2]"),
            std::string::npos);
  EXPECT_NE(message([](int rank) {
              return nn::Linear(nn::LinearOptions(2, 3).bias(rank != 1));
            }).find("rank 0 has parameter 'bias' float32 [3], rank 1 has nothing"),
            std::string::npos);
  EXPECT_NE(message([](int rank) {
              nn::Linear net(2, 3);
              if (rank == 1) net->to(kDouble);
              return net;
            }).find("rank 1 has parameter 'weight' float64 [3, 2]"),
            std::string::npos);
}

TEST(Ddp, RefusesWhatItCannotAverage) {
  dist::spawn_threads(1, [](int) {
    Net net = make_net(1);
    DistributedDataParallel model(net);
    expect_error<Error>([&] { loss_of(model(inputs(1, 1))).backward({}, true, true); },
                        "create_graph");
    model->zero_grad();
    net->fc2->bias.mutable_grad() = zeros({2, 3}, kDouble);
    expect_error<Error>([&] { loss_of(model(inputs(1, 1))).backward(); },
                        "the gradient of parameter 'fc2.bias' has shape [2, 3], expected [3]");
    model->zero_grad();
    const Tensor loss = loss_of(model(inputs(1, 1))), bias = net->fc2->bias.detach();
    net->fc2->bias.set_data(zeros({100}, kDouble));
    loss.backward();
    EXPECT_EQ(net->fc2->bias.grad().sizes(), IntArrayRef({3}));
    expect_error<Error>([&] { model(inputs(1, 1)); },
                        "parameter 'fc2.bias' was float64 [3] on cpu, and is float64 [100] on cpu");
    net->fc2->bias.set_data(bias);
    net->to(kFloat);
    expect_error<Error>([&] { model(inputs(1, 1)); }, "before the module is wrapped");
    for (const Tensor& x : net->parameters()) x.requires_grad_(false);
    expect_error<ValueError>([&] { DistributedDataParallel frozen(net); }, "requires grad");
  });
  Net net = make_net(1);
  expect_error<Error>([&] { DistributedDataParallel model(net); }, "init_process_group");
}

TEST(DistributedDataParallel, RunsTheHooksOfItsModule) {
  dist::spawn_threads(1, [](int) {
    const Net net = make_net(1);
    net->register_forward_hook([](nn::Module&, const Tensor&, const Tensor& y) { return y * 0; });
    DistributedDataParallel model(net);
    expect_values(model(inputs(1, 1)), {0, 0, 0}, 0);
  });
}

}  // namespace
}  // namespace gradus
