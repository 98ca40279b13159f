// libtorch on the cases of bench/cpu.cpp, in the same format.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

template <class F>
void time(const char* name, int rounds, int calls, double work, const char* unit, F f) {
  std::vector<double> times;
  for (int round = -1; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) f();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (round >= 0) times.push_back(spent.count() / calls);
  }
  std::sort(times.begin(), times.end());
  std::printf("%s\tlibtorch\t%.9g\t%.9g\t%s\n", name, times[times.size() / 2], work, unit);
}

}  // namespace

int main() {
  torch::manual_seed(1);
  {
    const torch::NoGradGuard guard;
    const auto a = torch::ones({1}), b = torch::ones({1});
    time("a + b, one element", 11, 100000, 1, "op", [&] { a + b; });
    const auto x = torch::rand({10000000}), y = torch::rand({10000000});
    time("a + b, 1e7", 7, 3, 1, "op", [&] { x + y; });
    time("exp, 1e7", 7, 3, 1, "op", [&] { x.exp(); });
    time("sum, 1e7", 7, 3, 1, "op", [&] { x.sum(); });
    for (const int n : {256, 512, 1024, 2048}) {
      const auto p = torch::randn({n, n}), q = torch::randn({n, n});
      char name[32];
      std::snprintf(name, sizeof name, "matmul %d", n);
      time(name, 9, n <= 512 ? 20 : 3, 2.0 * n * n * n, "FLOP", [&] { p.matmul(q); });
    }
  }
  torch::nn::Linear fc(10, 1);
  torch::optim::SGD sgd(fc->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  torch::nn::MSELoss loss;
  const auto x = torch::randn({64, 10}), y = torch::randn({64, 1});
  time("step Linear(10, 1) batch 64", 11, 5000, 1, "step", [&] {
    sgd.zero_grad();
    loss(fc(x), y).backward();
    sgd.step();
  });
}
