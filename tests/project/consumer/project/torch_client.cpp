// A program written for libtorch, with nothing changed but the include path.
#include <torch/torch.h>

#include <cmath>
#include <iostream>

struct Net : torch::nn::Module {
  Net() : fc1(register_module("fc1", torch::nn::Linear(4, 8))) {
    fc2 = register_module("fc2", torch::nn::Linear(8, 1));
  }
  torch::Tensor forward(torch::Tensor x) { return fc2(torch::relu(fc1(x))); }

  torch::nn::Linear fc1, fc2{nullptr};
};

int main() {
  torch::manual_seed(1);
  auto options = torch::TensorOptions().dtype(torch::kFloat64).device(torch::kCPU);
  auto net = std::make_shared<Net>();
  net->to(torch::kFloat64);
  at::Tensor x = torch::randn({32, 4}, options);
  auto y = x.sum(1, /*keepdim=*/true);

  torch::optim::SGD sgd(net->parameters(), torch::optim::SGDOptions(0.05));
  double first = 0, last = 0;
  for (int step = 0; step < 200; ++step) {
    sgd.zero_grad();
    auto loss = torch::nn::functional::mse_loss(net->forward(x), y);
    loss.backward();
    sgd.step();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  std::cout << "loss " << first << " -> " << last << " on " << x.device() << '\n';
  try {
    torch::mm(x, x);
  } catch (const c10::Error& error) {
    std::cout << error.what() << '\n';
    return last < first / 10 ? 0 : 1;
  }
  return 1;
}
