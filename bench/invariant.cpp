// What at::globalContext().setBatchInvariant(true) costs: models in eval with and without it, in
// turns, the best of several rounds each.
//
//   bench_invariant [DEVICE]     on the CPU with as many threads as OMP_NUM_THREADS says
#include <cstdio>
#include <functional>

#include "bench/clock.h"
#include "bench/config.h"
#include "gradus/gradus.h"
#include "gradus/tensor/base/batch_invariant.h"

namespace library = gradus;
#include "bench/models/gpt.h"
#include "bench/resnet.h"

namespace {

using namespace gradus;

double best_seconds(bool invariant, const std::function<Tensor()>& f, int calls, double best) {
  detail::set_batch_invariant(invariant);
  const double start = bench::seconds_now();
  for (int i = 0; i < calls; ++i) f();
  if (cuda::is_available()) cuda::synchronize();
  return std::min(best, (bench::seconds_now() - start) / calls);
}

void compare(const char* name, const std::function<Tensor()>& f) {
  double usual = 1e9, invariant = 1e9;
  f(), f();
  const int calls = static_cast<int>(std::clamp(0.05 / best_seconds(false, f, 1, 1e9), 1., 1000.));
  for (int round = 0; round < 12; ++round) {
    usual = best_seconds(false, f, calls, usual);
    invariant = best_seconds(true, f, calls, invariant);
  }
  std::printf("%-44s usual %9.3f ms, invariant %9.3f ms, speed %.2f\n", name, usual * 1e3,
              invariant * 1e3, usual / invariant);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Device device(argc > 1 ? argv[1] : "cpu");
  bench::print_config();
  manual_seed(0);
  const NoGradGuard guard;
  bench::GPT gpt({1000, 128, 4, 4, 256});
  gpt.to(device), gpt.eval();
  bench::GPT gpt2({50257, 1024, 12, 12, 768});
  gpt2.to(device), gpt2.eval();
  bench::ResNet18 resnet(10);
  resnet.to(device), resnet.eval();
  bench::ResNet50 resnet50(1000);
  resnet50.to(device), resnet50.eval();
  for (const int64_t batch : {1, 3, 16}) {
    const Tensor tokens = randint(1000, {batch, 128}).to(device);
    const Tensor token = randint(1000, {batch, 1}).to(device);
    const Tensor images = randn({batch, 3, 32, 32}).to(device);
    const Tensor pictures = randn({batch, 3, 224, 224}).to(device);
    const std::string of = ", batch " + std::to_string(batch);
    compare(("GPT of 4 layers of 256, 128 tokens" + of).c_str(),
            [&] { return gpt.forward(tokens); });
    compare(("the same, one token" + of).c_str(), [&] { return gpt.forward(token); });
    compare(("GPT-2, one token" + of).c_str(), [&] { return gpt2.forward(token); });
    compare(("ResNet-18, 32 x 32" + of).c_str(), [&] { return resnet.forward(images); });
    compare(("ResNet-50, 224 x 224" + of).c_str(), [&] { return resnet50.forward(pictures); });
  }
}
