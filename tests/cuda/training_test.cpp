// A whole training step on the GPU equals the CPU's, and needs no memory calls and no
// synchronisation.
#include "gradus/cuda/cuda.h"
#include "gradus/cuda/runtime/stats.h"
#include "tests/support.h"

namespace gradus {
namespace {

class Training : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  }
};

// The parameters after `steps` steps on the device, from seed 7. The network is smooth: where
// rounding decides on which side of 0 a ReLU's input lies, its gradient would differ as a whole.
std::vector<double> train(Device device, int steps, const Tensor& x, const Tensor& y) {
  manual_seed(7);
  nn::Sequential net(nn::Linear(20, 16), nn::Tanh(), nn::Linear(16, 5));
  net->to(device);
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.05).momentum(0.9).weight_decay(1e-3));
  nn::CrossEntropyLoss loss;
  const Tensor inputs = x.to(device), targets = y.to(device);
  for (int i = 0; i < steps; ++i) {
    sgd.zero_grad();
    loss(net->forward(inputs), targets).backward();
    sgd.step();
  }
  std::vector<double> out;
  for (const Tensor& p : net->parameters())
    for (double value : to_vector(p)) out.push_back(value);
  return out;
}

TEST_F(Training, GivesTheWeightsThatTheCpuGives) {
  const Tensor x = randn({96, 20}), y = randint(5, {96});
  const auto on_cpu = train(kCPU, 30, x, y), on_gpu = train(Device(kCUDA, 0), 30, x, y);
  ASSERT_EQ(on_cpu.size(), on_gpu.size());
  for (size_t i = 0; i < on_cpu.size(); ++i) EXPECT_NEAR(on_cpu[i], on_gpu[i], 1e-4) << i;
}

TEST_F(Training, IsRepeatableBitForBit) {
  const Tensor x = randn({300, 20}), y = randint(5, {300});
  EXPECT_EQ(train(Device(kCUDA, 0), 20, x, y), train(Device(kCUDA, 0), 20, x, y));
}

TEST_F(Training, ASteadyStepNeitherAllocatesNorSynchronises) {
  nn::Linear fc(10, 1);
  fc->to(kCUDA);
  optim::SGD sgd(fc->parameters(), optim::SGDOptions(0.01).momentum(0.9));
  nn::MSELoss loss;
  const Tensor x = randn({64, 10}, kCUDA), y = randn({64, 1}, kCUDA);
  const auto step = [&] {
    sgd.zero_grad();
    loss(fc(x), y).backward();
    sgd.step();
  };
  for (int i = 0; i < 3; ++i) step();
  const cuda::Stats before = cuda::stats();
  for (int i = 0; i < 100; ++i) step();
  const cuda::Stats after = cuda::stats();
  EXPECT_EQ(after.mallocs - before.mallocs, 0);
  EXPECT_EQ(after.synchronizations - before.synchronizations, 0);
  EXPECT_GT(after.kernel_launches - before.kernel_launches, 0);
}

}  // namespace
}  // namespace gradus
