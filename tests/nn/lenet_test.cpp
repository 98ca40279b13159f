// LeNet-5 trains as in PyTorch: the same losses from the same weights and batches, for 50 steps.
#include "tests/conformance/golden/golden.h"
#include "tests/support.h"

namespace gradus {
namespace {

constexpr int64_t kBatch = 32;

// Numbers in [-1, 1) without a pattern (tests/conformance/golden/lenet.py).
Tensor spread(int64_t count, int64_t seed) {
  const Tensor i = arange(count);
  return remainder((i * 7919 + seed * 104729) * (i + (seed + 17)), 1009).to(kDouble) / 504.5 - 1;
}

struct LeNetImpl : nn::Module {
  LeNetImpl()
      : conv1(register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)))),
        conv2(register_module("conv2", nn::Conv2d(6, 16, 5))),
        fc1(register_module("fc1", nn::Linear(400, 120))),
        fc2(register_module("fc2", nn::Linear(120, 84))),
        fc3(register_module("fc3", nn::Linear(84, 10))) {}
  Tensor forward(const Tensor& images) {
    Tensor x = max_pool2d(relu(conv1(images)), 2);
    x = max_pool2d(relu(conv2(x)), 2);
    x = relu(fc1(x.flatten(1)));
    return fc3(relu(fc2(x)));
  }
  nn::Conv2d conv1, conv2;
  nn::Linear fc1, fc2, fc3;
};
GRADUS_MODULE(LeNet);

void check_losses(Device device) {
  const Tensor expected = test::Golden(test::recorded("golden/lenet.txt"))["losses"];
  LeNet model;
  int64_t seed = 0;
  for (Tensor& p : model->parameters()) {
    const auto fan = static_cast<double>(p.numel()) / static_cast<double>(p.size(0));
    const double bound = p.dim() > 1 ? 2 / std::sqrt(fan) : 0.05;
    const NoGradGuard guard;
    p.copy_((spread(p.numel(), seed++) * bound).view(p.sizes()));
  }
  model->to(device);
  optim::SGD sgd(model->parameters(), optim::SGDOptions(0.01).momentum(0.9));
  for (int64_t step = 0; step < expected.numel(); ++step) {
    const Tensor labels = remainder(arange(kBatch) * 7 + step * 3, 10);
    const Tensor pattern = remainder(arange(784) * (labels.unsqueeze(1) + 3), 17).to(kDouble) / 17;
    const Tensor x = pattern + spread(kBatch * 784, step + 100).view({kBatch, 784}) * 0.5;
    sgd.zero_grad();
    const Tensor scores = model(x.to(kFloat).view({kBatch, 1, 28, 28}).to(device));
    const Tensor loss = cross_entropy_loss(scores, labels.to(device));
    loss.backward();
    sgd.step();
    ASSERT_NEAR(loss.item<double>(), expected[step].item<double>(), 1e-4) << "step " << step;
  }
}

TEST(LeNet, HasPyTorchsLosses) { check_losses(kCPU); }

TEST(LeNet, HasPyTorchsLossesOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
#ifdef GRADUS_SIMULATED
  GTEST_SKIP() << "takes minutes on simulated devices";
#endif
  check_losses(kCUDA);
}

}  // namespace
}  // namespace gradus
