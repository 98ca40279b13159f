// libtorch on the cases of bench/cpu.cpp, in the same format.
#include <torch/torch.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "bench/clock.h"
#include "bench/wanted.h"

#if TORCH_VERSION_MAJOR < 2
namespace torch {
// libtorch has it since 2.0.
inline Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                           const std::optional<Tensor>& mask = {},
                                           double /*dropout_p*/ = 0, bool is_causal = false) {
  Tensor scores = q.matmul(k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));
  if (is_causal)
    scores = scores.masked_fill(torch::ones_like(scores, TensorOptions(kBool)).triu(1), -INFINITY);
  else if (mask)
    scores = mask->scalar_type() == kBool ? scores.masked_fill(mask->logical_not(), -INFINITY)
                                          : scores + *mask;
  return scores.softmax(-1).matmul(v);
}
}  // namespace torch
#endif

namespace library = torch;
#include "bench/cpu_models.h"
#include "bench/resnet.h"
#include "bench/small_models.h"

namespace {

template <class F>
void time(const char* name, int rounds, int calls, double work, const char* unit, F f) {
  if (!bench::wanted(name)) return;
  std::vector<double> times;
  for (int round = -1; round < rounds; ++round) {
    const double start = bench::seconds_now();
    for (int i = 0; i < calls; ++i) f();
    if (round >= 0) times.push_back((bench::seconds_now() - start) / calls);
  }
  std::sort(times.begin(), times.end());
  std::printf("%s\tlibtorch\t%.9g\t%.9g\t%s\n", name, times[times.size() / 2], work, unit);
}

// What a model returns first.
const torch::Tensor& first(const torch::Tensor& y) { return y; }
template <class State>
const torch::Tensor& first(const std::tuple<torch::Tensor, State>& y) {
  return std::get<0>(y);
}

}  // namespace

int main(int argc, char** argv) {
  bench::read_wanted(argc, argv);
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
  namespace nn = torch::nn;
  const auto time_conv = [](const char* name, const torch::Tensor& x, const torch::Tensor& weight,
                            int64_t stride) {
    const auto in = x.requires_grad_(), w = weight.requires_grad_();
    time(name, 7, 2, 1, "call", [&] {
      torch::conv2d(in, w, {}, {stride, stride}).sum().backward();
    });
  };
  time_conv("conv 16 x 16 patches, 8 x 3 x 224 x 224 to 384", torch::randn({8, 3, 224, 224}),
            torch::randn({384, 3, 16, 16}), 16);
  time_conv("conv 1 x 1, 4 x 256 x 56 x 56 to 64", torch::randn({4, 256, 56, 56}),
            torch::randn({64, 256, 1, 1}), 1);
  time_conv("conv 1 x 1, 8 x 24 x 56 x 56 to 144", torch::randn({8, 24, 56, 56}),
            torch::randn({144, 24, 1, 1}), 1);
  const auto time_step = [](const char* name, int calls, auto model, const torch::Tensor& x,
                            const torch::Tensor& y, auto loss) {
    torch::optim::SGD sgd(model->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
    time(name, 11, calls, 1, "step", [&] {
      sgd.zero_grad();
      loss(first(model->forward(x)), y).backward();
      sgd.step();
    });
  };
  time_step("step Linear(10, 1) batch 64", 5000, nn::Linear(10, 1), torch::randn({64, 10}),
            torch::randn({64, 1}), nn::MSELoss());
  time_step("step MLP 784-512-10 batch 128", 50, bench::mlp(), torch::randn({128, 784}),
            torch::randint(10, {128}, torch::kLong), nn::CrossEntropyLoss());
  time_step("step LeNet-5 batch 128", 20, bench::lenet(), torch::randn({128, 1, 28, 28}),
            torch::randint(10, {128}, torch::kLong), nn::CrossEntropyLoss());
  time_step("step LSTM 256x2 64 x batch 32", 2, nn::LSTM(nn::LSTMOptions(256, 256).num_layers(2)),
            torch::randn({64, 32, 256}), torch::randn({64, 32, 256}), nn::MSELoss());
  time_step("step TransformerEncoderLayer 384 64 x batch 128", 1,
            nn::TransformerEncoderLayer(384, 6), torch::randn({64, 128, 384}),
            torch::randn({64, 128, 384}), nn::MSELoss());
  time_step("step ResNet-18 batch 32", 2, std::make_shared<bench::ResNet18>(10),
            torch::randn({32, 3, 32, 32}), torch::randint(10, {32}, torch::kLong),
            nn::CrossEntropyLoss());
  bench::time_models(time_step, [](const char* name, int calls, const auto& f) {
    time(name, 11, calls, 1, "call", f);
  });
}
