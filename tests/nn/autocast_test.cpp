// Modules and losses under autocast: the dtypes of their results against PyTorch's (autocast.def),
// and trainings in 16 bits with a GradScaler.
#include "gradus/tensor/backend.h"
#include "tests/conformance/recorded.h"
#include "tests/nn/rows.h"
#include "tests/support.h"

#include <sstream>

namespace gradus::test {
namespace {

namespace F = nn::functional;

std::map<std::string, std::vector<std::string>> golden_types() {
  std::map<std::string, std::vector<std::string>> out;
  std::istringstream lines(recorded("golden/autocast.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string name;
    words >> name;
    for (std::string word; words >> word;) out[name].push_back(word);
  }
  return out;
}

// What the expressions of autocast.def call.
struct Place {
  Device device;
  ScalarType dtype;

  Tensor t(IntArrayRef size) const { return rand(size).to(device, dtype); }
  Tensor i(int64_t high, IntArrayRef size) const { return randint(high, size, kLong).to(device); }
  template <class Module>
  Module m(Module module) const {
    module->to(device);
    return module;
  }
  static Tensor interpolated(const Tensor& x, nn::InterpolationMode mode) {
    return F::interpolate(
        x, F::InterpolateFuncOptions().scale_factor(std::vector<double>{2, 2}).mode(mode));
  }
  static Tensor padded(const Tensor& x, PaddingMode mode) {
    return F::pad(x, F::PadFuncOptions({1, 1}).mode(mode));
  }
};

struct Row : Place {
  std::string called(const std::string& wanted) const {
#define CAST(name, there, ...) \
  if (wanted == #name) return letters(__VA_ARGS__);
#include "tests/nn/autocast.def"
    return "no such row";
  }

  // "b,f" for a result of bfloat16 and one of float32.
  template <class T>
  static std::string letters(const T& result) {
    Tensors list;
    collect(list, result);
    std::string out;
    for (const Tensor& x : list)
      out += std::string(out.empty() ? "" : ",") + (x.dtype() == kFloat ? 'f' : 'b');
    return out;
  }
};

void check_rows(DeviceType type) {
  for (const auto& [name, expected] : golden_types())
    for (size_t i = 0; i < 2; ++i) {
      const std::string& dtypes = expected[i + (type == kCUDA ? 2 : 0)];
      if (dtypes == "x") continue;
      const Row row{{Device(type), i == 0 ? kFloat : kBFloat16}};
      const amp::autocast guard(type, kBFloat16);
      EXPECT_EQ(row.called(name), dtypes) << name << " of " << row.dtype << " on " << row.device;
    }
}

TEST(ModulesUnderAutocast, GivePyTorchsDtypes) { check_rows(kCPU); }
TEST(ModulesUnderAutocast, GivePyTorchsDtypesOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  check_rows(kCUDA);
}

TEST(ModulesUnderAutocast, RefuseBinaryCrossEntropyOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const amp::autocast guard(kCUDA);
  const Tensor x = rand({3}, kCUDA);
  expect_error<Error>([&] { binary_cross_entropy(x, x); },
                      "binary_cross_entropy: it is unsafe under autocast");
  EXPECT_NO_THROW(binary_cross_entropy(x.cpu(), x.cpu()));
}

// The recurrent passes are computed in float32 from rounded weights, and rounded once.
TEST(ModulesUnderAutocast, ComputeRecurrentLayersInFloat32) {
  manual_seed(1);
  nn::LSTM lstm(8, 8), rounded(8, 8);
  {
    const NoGradGuard guard;
    auto to = rounded->parameters();
    for (size_t i = 0; i < to.size(); ++i) to[i].copy_(lstm->parameters()[i].to(kBFloat16));
  }
  const Tensor x = randn({6, 3, 8}).to(kBFloat16).to(kFloat);
  const Tensor expected = std::get<0>(rounded(x));
  const amp::autocast guard(kCPU, kBFloat16);
  const Tensor got = std::get<0>(lstm(x));
  EXPECT_EQ(got.dtype(), kBFloat16);
  EXPECT_TRUE(allclose(got.to(kFloat), expected, 0x1p-8, 1e-6)) << got << expected;
}

// The output, both states, and the gradients of all that goes in.
std::vector<Tensor> lstm_results(nn::LSTM lstm, const Tensor& input, const Tensor& h,
                                 const Tensor& c, const Tensor& grad) {
  std::vector<Tensor> in = lstm->parameters();
  for (const Tensor& each : {input, h, c})
    in.push_back(each.to(grad.device()).detach().set_requires_grad(true));
  const size_t n = in.size();
  const auto [y, state] = lstm(in[n - 3], std::make_tuple(in[n - 2], in[n - 1]));
  const auto [last_h, last_c] = state;
  const Tensor total = (y.to(kFloat) * grad).sum() + last_h.to(kFloat).square().sum() +
                       last_c.to(kFloat).square().sum();
  std::vector<Tensor> out = autograd::grad({total}, in);
  out.insert(out.end(), {y.detach(), last_h.detach(), last_c.detach()});
  return out;
}

// Hopper takes all steps of so many units by one kernel; other devices take them one after the
// other.
TEST(ModulesUnderAutocast, ComputeLstmsOfManyUnitsOnAGpuAsInFloat32) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  manual_seed(2);
  const cuda::DeviceProperties& device = cuda::getDeviceProperties(0);
  const bool simulated = device.simulated;
  const int64_t steps = simulated ? 3 : 20, batch = simulated ? 3 : 70;
  for (const int64_t units :
       simulated ? std::vector<int64_t>{128} : std::vector<int64_t>{128, 256, 512})
    for (const ScalarType dtype : {kBFloat16, kHalf}) {
      if (device.major == 9 && device.minor == 0 && !simulated) {
        EXPECT_TRUE(cuda_backend().takes_lstm_steps(Device(kCUDA, 0), dtype, units)) << units;
      }
      const auto rounded = [&](const Tensor& x) { return x.to(dtype).to(kFloat); };
      nn::LSTM lstm(nn::LSTMOptions(24, units).bidirectional(true));
      {
        const NoGradGuard guard;
        for (Tensor& each : lstm->parameters()) each.copy_(rounded(each * 2));
      }
      nn::LSTM there = std::dynamic_pointer_cast<nn::LSTMImpl>(lstm->clone());
      there->to(kCUDA);
      const Tensor x = rounded(randn({steps, batch, 24})), h = rounded(randn({2, batch, units})),
                   c = rounded(randn({2, batch, units})), grad = randn({steps, batch, 2 * units});
      const std::vector<Tensor> expected = lstm_results(lstm, x, h, c, grad);
      const amp::autocast guard(kCUDA, dtype);
      const std::vector<Tensor> got = lstm_results(there, x, h, c, grad.cuda());
      for (size_t i = 0; i < expected.size(); ++i) {
        const Tensor error = got[i].cpu().to(kFloat) - expected[i];
        EXPECT_LE(error.norm().item<float>(), 0x1p-6f * expected[i].norm().item<float>())
            << units << " units, result " << i;
      }
    }
}

struct MixedNetImpl : nn::Module {
  MixedNetImpl()
      : conv(register_module("conv", nn::Conv2d(1, 4, 3))),
        norm(register_module("norm", nn::BatchNorm2d(4))),
        fc1(register_module("fc1", nn::Linear(36, 16))),
        fc2(register_module("fc2", nn::Linear(16, 3))) {}
  Tensor forward(const Tensor& images) {
    const Tensor x = max_pool2d(relu(norm(conv(images))), 2);
    return fc2(relu(fc1(x.flatten(1))));
  }
  nn::Conv2d conv;
  nn::BatchNorm2d norm;
  nn::Linear fc1, fc2;
};
GRADUS_MODULE(MixedNet);

// Three patterns in noise are told apart after 40 steps.
void check_training(Device device, ScalarType dtype) {
  manual_seed(3);
  const Tensor labels = arange(48) % 3;
  const Tensor images = (randn({48, 1, 8, 8}) * 0.3 + labels.view({48, 1, 1, 1}) - 1).to(device);
  const Tensor target = labels.to(device);
  MixedNet net;
  net->to(device);
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.05).momentum(0.9));
  amp::GradScaler scaler(amp::GradScalerOptions().enabled(dtype == kHalf));
  double first = 0, last = 0;
  // Simulated devices take most of a second for a step.
#ifdef GRADUS_SIMULATED
  const int steps = device.is_cuda() ? 10 : 40;
#else
  const int steps = 40;
#endif
  for (int step = 0; step < steps; ++step) {
    sgd.zero_grad();
    Tensor loss;
    {
      const amp::autocast guard(device.type(), dtype);
      const Tensor scores = net(images);
      EXPECT_EQ(scores.dtype(), dtype);
      loss = cross_entropy_loss(scores, target);
    }
    EXPECT_EQ(loss.dtype(), kFloat);
    scaler.scale(loss).backward();
    for (const Tensor& p : net->parameters()) EXPECT_EQ(p.grad().dtype(), kFloat);
    scaler.step(sgd);
    scaler.update();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  EXPECT_LT(last, (steps == 40 ? 0.1 : 0.6) * first);
}

TEST(ModulesUnderAutocast, Train) {
  check_training(kCPU, kBFloat16);
  check_training(kCPU, kHalf);
}
TEST(ModulesUnderAutocast, TrainOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  check_training(kCUDA, kBFloat16);
  check_training(kCUDA, kHalf);
}

// Replicas run in threads of their own, under the caller's state.
TEST(ModulesUnderAutocast, ReachReplicas) {
  const nn::Linear linear(4, 2);
  nn::DataParallel parallel(linear, std::vector<Device>(2, Device(kCPU)));
  const Tensor x = rand({4, 4});
  {
    const amp::autocast guard(kCPU, kBFloat16);
    EXPECT_EQ(parallel->forward(x).dtype(), kBFloat16);
  }
  EXPECT_EQ(parallel->forward(x).dtype(), kFloat);
}

}  // namespace
}  // namespace gradus::test
