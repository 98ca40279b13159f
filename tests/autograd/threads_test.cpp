// Several threads build graphs and run backward passes at once. ThreadSanitizer checks these tests.
#include <atomic>
#include <thread>

#include "tests/support.h"

namespace gradus {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 20;

template <class F>
void on_threads(F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& thread : threads) thread.join();
}

struct Count : autograd::Function<Count> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    ctx->saved_data["calls"] = 0;
    return x * x;
  }
  static Tensors backward(autograd::AutogradContext* ctx, Tensors grads) {
    ctx->saved_data["calls"] = ctx->saved_data["calls"].toInt() + 1;
    return {grads[0] * 2 * ctx->get_saved_variables()[0]};
  }
};

TEST(Threads, HaveGraphsOfTheirOwn) {
  std::vector<double> results(kThreads);
  on_threads([&](int i) {
    const Tensor x = full({1}, i + 1.0, requires_grad());
    for (int n = 0; n < kRounds; ++n) {
      autograd::clear_grad(x, true);
      (x * x).sum().backward();
    }
    results[static_cast<size_t>(i)] = x.grad().item<double>();
  });
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(results[static_cast<size_t>(i)], 2.0 * (i + 1));
}

TEST(Threads, AccumulateIntoSharedParameters) {
  const Tensor weight = ones({3, 2}, requires_grad()), bias = zeros({3}, requires_grad());
  const Tensor input = ones({4, 2});
  on_threads([&](int) {
    for (int n = 0; n < kRounds; ++n) {
      const Tensor h = linear(input, weight, bias).relu();
      (h * weight[0].sum()).mean().backward();
    }
  });
  const double runs = kThreads * kRounds;
  // d/dw of mean(relu(x w + b) * sum(w[0])) at ones: 2/3 from each linear row, 2 from the factor.
  expect_values(
      weight.grad(),
      {runs * 8 / 3, runs * 8 / 3, runs * 2 / 3, runs * 2 / 3, runs * 2 / 3, runs * 2 / 3}, 1e-5);
  expect_values(bias.grad(), {runs * 2 / 3, runs * 2 / 3, runs * 2 / 3}, 1e-5);
}

TEST(Threads, GoThroughOneGraphAtOnce) {
  const Tensor x = tensor({3.0}, requires_grad());
  const Tensor y = (Count::apply(x.exp().log()) * x).sum();
  on_threads([&](int) {
    for (int n = 0; n < kRounds; ++n) y.backward({}, /*retain_graph=*/true);
  });
  expect_values(x.grad(), {27.0 * kThreads * kRounds}, 1e-5);
}

TEST(Threads, OneOfSeveralFreesAGraphAndTheOthersAreTold) {
  for (int n = 0; n < kRounds; ++n) {
    const Tensor x = tensor({3.0}, requires_grad());
    const Tensor y = (x * x).exp().sum();
    std::atomic<int> told = 0;
    on_threads([&](int) {
      try {
        y.backward();
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("a second time"), std::string::npos);
        ++told;
      }
    });
    EXPECT_LT(told, kThreads);
    const double once = 6 * std::exp(9.0);
    const double runs = x.grad().item<double>() / once;
    EXPECT_NEAR(runs, kThreads - told, 1e-4);
  }
}

TEST(Threads, ReplayAViewThatAllOfThemUse) {
  for (int n = 0; n < kRounds; ++n) {
    const Tensor x = tensor({3.0, 4.0}, requires_grad());
    Tensor base = x * 1;
    const Tensor view = base.narrow(0, 1, 1);
    base.mul_(2);
    on_threads([&](int) { view.sum().backward({}, /*retain_graph=*/true); });
    expect_values(x.grad(), {0, 2.0 * kThreads});
  }
}

TEST(Threads, DifferentiateTwiceThroughSharedParameters) {
  const Tensor w = tensor({2.0}, requires_grad());
  on_threads([&](int) {
    const Tensor first = autograd::grad({w.pow(3).sum()}, {w}, {}, true, true)[0];
    first.sum().backward();
  });
  expect_values(w.grad(), {12.0 * kThreads});
}

}  // namespace
}  // namespace gradus
