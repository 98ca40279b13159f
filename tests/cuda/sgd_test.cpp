#include <functional>

#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

// The same parameters on both devices.
struct Parameters {
  std::vector<Pair> tensors;  // parameter, gradient, buffer, in turn
  std::vector<SgdParameter> cpu, gpu;
};
Parameters random_parameters(ScalarType dtype, const std::vector<int64_t>& sizes, bool momentum) {
  Parameters out;
  for (const int64_t n : sizes) {
    Pair three[3];
    for (Pair& one : three) {
      one = random_pair(dtype, contiguous_layout("", {n}, pick(0, 3) == 0));
      out.tensors.push_back(one);
    }
    const auto [p, g, b] = three;
    out.cpu.push_back({p.cpu, g.cpu, momentum ? b.cpu : Tensor()});
    out.gpu.push_back({p.gpu, g.gpu, momentum ? b.gpu : Tensor()});
  }
  return out;
}

void compare(const SgdSettings& settings, ScalarType dtype, const std::vector<int64_t>& sizes) {
  const Parameters p = random_parameters(dtype, sizes, settings.momentum != 0);
  cpu_backend().sgd(settings, p.cpu);
  cuda_backend().sgd(settings, p.gpu);
  for (const Pair& one : p.tensors)
    expect_close(one.gpu_all, one.cpu_all, rounding(dtype), describe("sgd", dtype, "one step"));
}

class CudaSgd : public GpuTest {};

TEST_F(CudaSgd, EverySetting) {
  const std::vector<int64_t> sizes = {1, 4096, pick(2, 4095), pick(4097, 20000), 0, 7};
  for (const double momentum : {0.0, 0.9})
    for (const double decay : {0.0, 0.01})
      for (const bool nesterov : {false, true})
        for (const bool maximize : {false, true})
          for (const bool first : {false, true})
            for (const ScalarType dtype : {kFloat, kDouble}) {
              const double dampening = nesterov ? 0 : 0.3;
              compare({0.1, momentum, dampening, decay, nesterov && momentum != 0, maximize, first},
                      dtype, sizes);
            }
}

TEST_F(CudaSgd, TheFirstStepDoesNotReadTheBuffer) {
  Tensor buffer = random_memory(kFloat, 5000);
  for (int64_t i = 0; i < 5000; ++i) buffer.data_ptr<float>()[i] = std::nanf("");
  const Pair p = random_pair(kFloat, contiguous_layout("", {5000}));
  const Tensor b = raw::to(buffer, Device(kCUDA));
  const SgdParameter one[] = {{p.gpu, raw::to(p.cpu, Device(kCUDA)), b}};
  cuda_backend().sgd({0.1, 0.9, 0, 0, false, false, true}, {one, 1});
  for (const double value : doubles(p.gpu)) ASSERT_FALSE(std::isnan(value));
}

TEST_F(CudaSgd, AllParametersAreOneLaunch) {
  const Parameters p = random_parameters(kFloat, std::vector<int64_t>(50, 5000), true);
  const int64_t before = cuda::stats().kernel_launches;
  cuda_backend().sgd({0.1, 0.9, 0, 0, false, false, false}, p.gpu);
  EXPECT_EQ(cuda::stats().kernel_launches - before, 1);
}

TEST_F(CudaSgd, MoreParametersThanALaunchTakes) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < 200; ++i) sizes.push_back(pick(1, 50));
  compare({0.05, 0.5, 0.1, 0.001, false, false, false}, kFloat, sizes);
}

// Calls back when somebody waits for it.
struct Told final : Arrival {
  explicit Told(std::function<void()> f) : tell(std::move(f)) {}
  bool await() override {
    tell();
    return true;
  }
  std::function<void()> tell;
};

// Of 1, 1, 4, 2 and 2 elements, where the gradient of the first is there: it and the last two are
// half of all, and the third one is more than half of the rest.
TEST_F(CudaSgd, StepsMeanwhileWhatNeedNotWait) {
  Tensors parameters;
  for (const int64_t size : {1, 1, 4, 2, 2})
    parameters.push_back(ones({size}, kCUDA).set_requires_grad(true));
  optim::SGD sgd(parameters, 1.0);
  std::vector<std::string> stepped(parameters.size());  // when its gradient was waited for
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor grad = ones_like(parameters[i].detach());
    parameters[i].mutable_grad() = grad;
    if (i == 0) continue;
    grad.impl().storage->expect(std::make_shared<Told>([&, i] {
      for (const Tensor& p : parameters) stepped[i] += p.detach()[0].item<float>() == 0 ? 'x' : '.';
    }));
  }
  const int64_t before = cuda::stats().kernel_launches;
  sgd.step();
  EXPECT_EQ(cuda::stats().kernel_launches - before, 3);
  EXPECT_EQ(stepped, (std::vector<std::string>{"", "x.xxx", "x..xx", ".....", "....."}));
  for (const Tensor& p : parameters) EXPECT_EQ(p.detach().abs().sum().item<float>(), 0);
}

}  // namespace
}  // namespace gradus
