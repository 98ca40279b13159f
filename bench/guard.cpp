// What a NanGuard costs on a GPU: training steps with and without one, in turns, the best of
// several rounds each.
//
//   bench_guard [small]     small: sizes for a simulated device, where times say nothing
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>

#include "bench/clock.h"
#include "bench/config.h"
#include "gradus/gradus.h"

namespace library = gradus;
#include "bench/models/gpt.h"
#include "bench/small_models.h"

namespace {

using namespace gradus;

double seconds_of(const std::function<void()>& step, int steps) {
  step();
  cuda::synchronize();
  const double start = bench::seconds_now();
  for (int i = 0; i < steps; ++i) step();
  cuda::synchronize();
  return (bench::seconds_now() - start) / steps;
}

// off, on: steps of the same model. Where a step is captured, `on` was captured under a guard.
void compare(const char* name, const std::function<void()>& off, const std::function<void()>& on,
             int steps, int rounds) {
  double without = 1e9, with = 1e9;
  for (int round = 0; round < rounds; ++round) {
    without = std::min(without, seconds_of(off, steps));
    const NanGuard guard;
    with = std::min(with, seconds_of(on, steps));
  }
  std::printf("%-40s off %9.3f ms, on %9.3f ms, off/on %.3f\n", name, without * 1e3, with * 1e3,
              without / with);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bool small = argc > 1 && std::strcmp(argv[1], "small") == 0;
  const int rounds = small ? 1 : 8;
  bench::print_config();
  if (!cuda::is_available()) {
    std::printf("there is no GPU: %s\n", cuda::why_unavailable().c_str());
    return 1;
  }
  manual_seed(0);
  {
    const int64_t words = small ? 50 : 50257, count = small ? 8 : 512;
    bench::GPT gpt(small ? bench::GPTSizes{words, count, 1, 2, 16}
                         : bench::GPTSizes{words, count, 12, 12, 768});
    gpt.to(kCUDA);
    optim::AdamW adamw(gpt.parameters(), optim::AdamWOptions(3e-4));
    const Tensor tokens = randint(words, {small ? 1 : 8, count}).to(kCUDA);
    const auto step = [&] {
      adamw.zero_grad();
      Tensor loss;
      {
        const amp::autocast autocast(kCUDA, kBFloat16);
        const Tensor scores = gpt.forward(tokens);
        loss = nn::functional::cross_entropy(scores.view({-1, words}), tokens.view({-1}));
      }
      loss.backward();
      adamw.step();
    };
    compare("GPT-2, bfloat16, 8 x 512 tokens", step, step, small ? 1 : 10, rounds);
  }
  const auto captured = [small] {
    const nn::Sequential mlp = bench::mlp();
    mlp->to(kCUDA);
    const auto sgd = std::make_shared<optim::SGD>(mlp->parameters(), optim::SGDOptions(0.01));
    const int64_t batch = small ? 2 : 128;
    const Tensor x = randn({batch, 784}, kCUDA), y = randint(10, {batch}).to(kCUDA);
    const auto capture = [&] {
      return cuda::make_graphed(
          [mlp, sgd, y](const Tensor& images) mutable {
            sgd->zero_grad();
            const Tensor loss = nn::functional::cross_entropy(mlp->forward(images), y);
            loss.backward();
            sgd->step();
            return loss;
          },
          x);
    };
    const std::shared_ptr<decltype(capture())> step(new auto(capture()));
    return std::function<void()>([step, x] { (*step)(x); });
  };
  const std::function<void()> off = captured();
  std::function<void()> on;
  {
    const NanGuard guard;
    on = captured();
  }
  compare("MLP 784-512-10, a captured step of 128", off, on, small ? 1 : 500, rounds);
}
