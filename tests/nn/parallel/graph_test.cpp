// DataParallel as a part of a larger graph.
#include <cstring>
#include <thread>

#include "gradus/autograd/tools/gradcheck.h"
#include "tests/nn/parallel/nets.h"

namespace gradus {
namespace {

struct Pair {
  Pair() : plain(4, 5, 3) {
    plain->to(kDouble);
    net = Mlp(std::dynamic_pointer_cast<MlpImpl>(plain->clone()));
  }
  void expect_equal_grads() const {
    const Tensors expected = plain->parameters(), got = net->parameters();
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].grad().defined(), expected[i].grad().defined()) << i;
      if (got[i].grad().defined())
        expect_values(got[i].grad(), to_vector(expected[i].grad()), 1e-10);
    }
  }
  Mlp plain, net{nullptr};
};

TEST(Graph, SeveralForwardsBeforeOneBackward) {
  Pair nets;
  nn::DataParallel parallel(nets.net, {kCPU, kCPU, kCPU});
  const Tensor x = randn({7, 4}, kDouble), y = randn({2, 4}, kDouble);
  (nets.plain(x).sum() * nets.plain(y).square().sum()).backward();
  (parallel(x).sum() * parallel(y).square().sum()).backward();
  nets.expect_equal_grads();
}

TEST(Graph, BetweenOtherParts) {
  Pair nets;
  nn::DataParallel parallel(nets.net, {kCPU, kCPU});
  const Tensor a = randn({5, 4}, kDouble).requires_grad_(), b = a.detach().requires_grad_();
  (nets.plain(a.tanh()).sigmoid() * a.sum()).sum().backward();
  (parallel(b.tanh()).sigmoid() * b.sum()).sum().backward();
  nets.expect_equal_grads();
  expect_values(b.grad(), to_vector(a.grad()), 1e-10);
}

TEST(Graph, IsKeptOrFreedAsAsked) {
  Pair nets;
  nn::DataParallel parallel(nets.net, {kCPU, kCPU});
  const Tensor x = randn({5, 4}, kDouble);
  const Tensor y = parallel(x).square().sum();
  y.backward({}, /*retain_graph=*/true);
  y.backward();
  const Tensor z = nets.plain(x).square().sum();
  z.backward({}, true);
  z.backward();
  nets.expect_equal_grads();
  expect_error<Error>([&] { y.backward(); }, "second time");
}

TEST(Graph, GradOfSomeOfItsInputs) {
  Pair nets;
  nn::DataParallel parallel(nets.net, {kCPU, kCPU});
  const Tensor x = randn({5, 4}, kDouble).requires_grad_();
  const Tensor of_x = autograd::grad({parallel(x).square().sum()}, {x})[0];
  expect_values(of_x, to_vector(autograd::grad({nets.plain(x).square().sum()}, {x})[0]), 1e-10);
  const Tensor of_scale = autograd::grad({parallel(x).square().sum()}, {nets.net->scale})[0];
  expect_values(of_scale,
                to_vector(autograd::grad({nets.plain(x).square().sum()}, {nets.plain->scale})[0]),
                1e-10);
  for (const Tensor& p : nets.net->parameters()) EXPECT_FALSE(p.grad().defined());
  EXPECT_FALSE(x.grad().defined());
}

TEST(Graph, HooksOfParametersSeeTheSumOnce) {
  Pair nets;
  nn::DataParallel parallel(nets.net, {kCPU, kCPU, kCPU});
  int calls = 0;
  Tensor seen;
  nets.net->scale.register_hook([&](const Tensor& grad) {
    ++calls;
    seen = grad.clone();
    return grad * 2;
  });
  const Tensor x = randn({5, 4}, kDouble);
  parallel(x).sum().backward();
  nets.plain(x).sum().backward();
  EXPECT_EQ(calls, 1);
  expect_values(seen, to_vector(nets.plain->scale.grad()), 1e-10);
  expect_values(nets.net->scale.grad(), to_vector(nets.plain->scale.grad() * 2), 1e-10);
}

TEST(Graph, GradientsOfGradients) {
  Pair nets;
  for (const Devices& devices : {Devices(3, kCPU), Devices(2, kCPU)}) {
    nn::DataParallel parallel(nets.net, devices);
    const Tensor x = randn({5, 4}, kDouble).requires_grad_();
    // A penalty on the gradient of the input.
    const auto penalty = [&](const Tensor& y) {
      const Tensor grad = autograd::grad({y.square().sum()}, {x}, {}, std::nullopt, true)[0];
      return grad.square().sum() + y.sum();
    };
    const auto step = [&](const Tensor& y) {
      penalty(y).backward();
      const auto of_x = to_vector(x.grad());
      x.mutable_grad() = Tensor();
      return of_x;
    };
    nets.net->zero_grad();
    nets.plain->zero_grad();
    const auto expected = step(nets.plain(x));
    const auto got = step(parallel(x));
    ASSERT_EQ(expected.size(), got.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-9);
    nets.expect_equal_grads();
    // The same for gradients of parameters.
    const auto of_weights = [&](const Tensor& y, const Mlp& net) {
      const Tensors first =
          autograd::grad({y.square().sum()}, {net->scale}, {}, std::nullopt, true);
      return to_vector(autograd::grad({first[0].square().sum()}, {net->head->weight})[0]);
    };
    const auto a = of_weights(nets.plain(x), nets.plain), b = of_weights(parallel(x), nets.net);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-8 * std::abs(a[i]) + 1e-9);
  }
}

// Hands its input and its parameter through.
struct ThroughImpl : nn::Cloneable<ThroughImpl> {
  ThroughImpl() { reset(); }
  void reset() override { w = register_parameter("w", ones({2, 2})); }
  std::tuple<Tensor, Tensor> forward(const Tensor& x) { return {x, w}; }
  Tensor w;
};
GRADUS_MODULE(Through);

TEST(Graph, InputsAndParametersMayBeResults) {
  Through net;
  nn::DataParallel parallel(net, {kCPU, kCPU});
  const Tensor x = randn({2, 3}).requires_grad_();
  const auto [y, w] = parallel(x);
  EXPECT_EQ(w.sizes(), IntArrayRef({4, 2}));
  const Tensor weights = arange(6, kFloat).reshape({2, 3});
  ((y * weights).sum() + (w * arange(8, kFloat).reshape({4, 2})).sum()).backward();
  expect_values(x.grad(), to_vector(weights));
  expect_values(net->w.grad(), {0 + 4, 1 + 5, 2 + 6, 3 + 7});
}

TEST(Graph, AStaleReplicaIsAnError) {
  Pair nets;
  nn::DataParallel parallel(nets.net, {kCPU, kCPU});
  const Tensor x = randn({4, 4}, kDouble);
  const Tensor first = parallel(x).square().sum();
  {
    const NoGradGuard guard;
    nets.net->head->weight.mul_(2);
  }
  const Tensor second = parallel(x).square().sum();
  expect_error<Error>([&] { first.backward(); }, "modified by an inplace operation");
  second.backward();
}

TEST(Graph, EightThreadsWithOneEach) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([] {
      Pair nets;
      nn::DataParallel parallel(nets.net, {kCPU, kCPU, kCPU});
      optim::SGD a(nets.plain->parameters(), 0.01), b(parallel->parameters(), 0.01);
      const Tensor x = randn({7, 4}, kDouble);
      for (int step = 0; step < 20; ++step) {
        a.zero_grad(), b.zero_grad();
        nets.plain(x).square().sum().backward();
        parallel(x).square().sum().backward();
        nets.expect_equal_grads();
        a.step(), b.step();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Graph, ThreadsMayShareOne) {
  Pair nets;
  nn::DataParallel parallel(nets.net, {kCPU, kCPU});
  const Tensor x = randn({6, 4}, kDouble);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) parallel(x).sum().backward();
    });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 40; ++i) nets.plain(x).sum().backward();
  nets.expect_equal_grads();
}

}  // namespace
}  // namespace gradus
