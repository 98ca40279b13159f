// Steps of optimizers on a GPU against the CPU, and how many launches they take.
#include <functional>

#include "gradus/gradus.h"
#include "gradus/tensor/arrival.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

// The same parameters on both devices, each with coefficients of its own and one of them 0 at
// times. What is fresh is NaN. All numbers are positive: a difference of near ones, divided by its
// own root, would have few digits, and other ones where a product and a sum are rounded once. A
// centered rmsprop takes the square of the second state from the first one, which is far above it:
// by its range, or where it is fresh by gradients and coefficients that are neither small nor
// near 1.
struct Parameters {
  Parameters(int states, ScalarType dtype, const std::vector<int64_t>& sizes) {
    for (const int64_t n : sizes) {
      UpdatedParameter here, there;
      for (double& c : here.coefficients) c = test::real(0.1, 0.6);
      if (pick(0, 1) == 1)
        here.coefficients[static_cast<size_t>(pick(0, kMostCoefficients - 1))] = 0;
      there.coefficients = here.coefficients;
      const auto make = [&](Tensor UpdatedParameter::*member, Range range) {
        tensors.push_back(random_pair(dtype, contiguous_layout("", {n}, pick(0, 3) == 0), range));
        here.*member = tensors.back().cpu, there.*member = tensors.back().gpu;
      };
      make(&UpdatedParameter::parameter, {0.1, 1});
      make(&UpdatedParameter::gradient, {0.5, 1});
      for (size_t k = 0; k < static_cast<size_t>(states); ++k) {
        const bool fresh = pick(0, 2) == 0;
        const double nan = std::nan("");
        const Range range = k == 0 ? Range{1, 2} : Range{0.01, 0.03};
        Pair pair = random_pair(dtype, contiguous_layout("", {n}, pick(0, 3) == 0), range);
        if (fresh) raw::fill_(pair.cpu, nan), raw::fill_(pair.gpu, nan);
        here.fresh |= unsigned{fresh} << k;
        here.states[k] = pair.cpu, there.states[k] = pair.gpu;
        tensors.push_back(pair);
      }
      there.fresh = here.fresh;
      cpu.push_back(here), gpu.push_back(there);
    }
  }

  std::vector<Pair> tensors;
  std::vector<UpdatedParameter> cpu, gpu;
};

class CudaUpdate : public GpuTest {};

TEST_F(CudaUpdate, EveryRowGivesWhatItGivesOnTheCpu) {
  const auto compare = [&](UpdateOp op, const char* name, int states, ScalarType dtype,
                           const std::vector<int64_t>& sizes) {
    const Parameters p(states, dtype, sizes);
    cpu_backend().update(op, states, p.cpu);
    cuda_backend().update(op, states, p.gpu);
    for (const Pair& one : p.tensors)
      expect_close(one.gpu_all, one.cpu_all, 4 * rounding(dtype),
                   describe(name, dtype, "one step"));
  };
  std::vector<int64_t> many;
  for (int i = 0; i < 600; ++i) many.push_back(pick(1, 50));  // more than a launch takes
  const std::vector<int64_t> some = {1, 4096, pick(2, 4095), pick(4097, 20000), 7};
#define OPTIMIZER(name, least, most, ...)              \
  for (int states = least; states <= (most); ++states) \
    for (const ScalarType dtype : {kFloat, kDouble})   \
      for (const auto& sizes : {some, many}) compare(UpdateOp::name, #name, states, dtype, sizes);
#include "gradus/tensor/table/optimizers.def"
}

TEST_F(CudaUpdate, ASkipOfTheDeviceLeavesAllAsItIs) {
  const auto check = [](UpdateOp op, int states, const std::vector<int64_t>& sizes) {
    Parameters p(states, kFloat, sizes);
    const Tensor skip = ones({}, kDouble), skipped = zeros({}, kDouble);
    Tensors before;
    for (const Pair& one : p.tensors) before.push_back(one.cpu_all.clone());
    for (UpdatedParameter& one : p.cpu) one.found_inf = skip, one.skipped = skipped;
    for (UpdatedParameter& one : p.gpu)
      one.found_inf = skip.to(kCUDA), one.skipped = skipped.to(kCUDA);
    cpu_backend().update(op, states, p.cpu);
    cuda_backend().update(op, states, p.gpu);
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_TRUE(p.tensors[i].cpu_all.allclose(before[i], 0, 0, /*equal_nan=*/true));
      EXPECT_TRUE(p.tensors[i].gpu_all.to(kCPU).allclose(before[i], 0, 0, /*equal_nan=*/true));
    }
  };
#define OPTIMIZER(name, least, most, ...) check(UpdateOp::name, most, {1, 4096, 5000});
#include "gradus/tensor/table/optimizers.def"
}

// After 5 counted steps, 3 of which were passed over, comes the third one.
TEST_F(CudaUpdate, CountsStepsWithoutThoseThatWerePassedOver) {
  for (const bool on_gpu : {false, true}) {
    const Device device(on_gpu ? kCUDA : kCPU);
    const auto stepped = [&](int64_t counted, double skipped) {
      optim::AdamParamState state;
      state.step(counted);
      const auto coefficients = optim::AdamOptions(0.1).update(state).coefficients;
      UpdatedParameter one;
      one.parameter = ones({3}, device), one.gradient = full({3}, 0.5, device);
      for (size_t k = 0; k < 2; ++k) one.states[k] = full({3}, 0.25, device);
      one.coefficients = list_of<UpdateOp::adam>(coefficients);
      one.found_inf = zeros({}, TensorOptions(device).dtype(kDouble));
      one.skipped = full({}, skipped, one.found_inf.options());
      backend(one.parameter).update(UpdateOp::adam, 2, std::vector<UpdatedParameter>{one});
      return one.parameter;
    };
    EXPECT_TRUE(stepped(5, 3).allclose(stepped(2, 0), 1e-6, 0));
    EXPECT_FALSE(stepped(5, 3).allclose(stepped(5, 0), 1e-6, 0));
  }
}

template <class F>
int64_t launches_of(F&& f) {
  const int64_t before = cuda::stats().kernel_launches;
  f();
  return cuda::stats().kernel_launches - before;
}

TEST_F(CudaUpdate, ManyParametersAreOneLaunch) {
  const auto launches = [](int parameters) {
    const Parameters p(1, kFloat, std::vector<int64_t>(static_cast<size_t>(parameters), 50));
    return launches_of([&] { cuda_backend().update(UpdateOp::sgd, 1, p.gpu); });
  };
  EXPECT_EQ(launches(1), 1);
  EXPECT_EQ(launches(60), 1);
  EXPECT_EQ(launches(400), 1);
  EXPECT_EQ(launches(600), 2);
}

// Groups, dtypes and the age of a momentum alternate.
TEST_F(CudaUpdate, AStepIsOneLaunchForEachDtype) {
  std::vector<optim::OptimizerParamGroup> groups;
  for (const double lr : {0.1, 0.2}) {
    Tensors parameters;
    for (int i = 0; i < 40; ++i)
      parameters.push_back(ones({30}, i % 2 ? kFloat : kDouble).to(kCUDA).set_requires_grad(true));
    groups.emplace_back(parameters, std::make_unique<optim::SGDOptions>(
                                        optim::SGDOptions(lr).momentum(0.5).dampening(0.5)));
  }
  optim::SGD sgd(std::move(groups), 1.0);
  const Tensors all = sgd.parameters();
  for (size_t i = 1; i < all.size(); ++i) all[i].mutable_grad() = ones_like(all[i].detach());
  EXPECT_EQ(launches_of([&] { sgd.step(); }), 2);
  all[0].mutable_grad() = ones_like(all[0].detach());
  EXPECT_EQ(launches_of([&] { sgd.step(); }), 2);
  EXPECT_NEAR(all[0].detach()[0].item<double>(), 1 - 0.1, 1e-6);
  EXPECT_NEAR(all[1].detach()[0].item<double>(), 1 - 0.1 - 0.1, 1e-6);
  EXPECT_NEAR(all[41].detach()[0].item<double>(), 1 - 0.2 - 0.2, 1e-6);
}

TEST_F(CudaUpdate, ParametersOfDifferentAgeAreOneLaunch) {
  Tensors parameters;
  for (int i = 0; i < 100; ++i) parameters.push_back(ones({30}, kCUDA).set_requires_grad(true));
  optim::Adam adam(parameters, 0.1);
  for (int step = 1; step <= 3; ++step) {
    for (int i = 0; i < 30 * step; ++i)
      parameters[static_cast<size_t>(i)].mutable_grad() = full({30}, 2.0, kCUDA);
    EXPECT_EQ(launches_of([&] { adam.step(); }), 1);
  }
  EXPECT_NEAR(parameters[0].detach()[0].item<double>(), 0.7, 1e-6);
  EXPECT_NEAR(parameters[89].detach()[0].item<double>(), 0.9, 1e-6);
}

// Calls a function when it is waited for.
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
TEST_F(CudaUpdate, StepsMeanwhileWhatNeedNotWait) {
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
