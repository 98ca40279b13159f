// A line fitted by SGD, with weights that start from given values.
#include <torch/torch.h>

#include <cstdio>
#include <iostream>

int main() {
  const auto x = torch::linspace(-1, 1, 32).view({16, 2});
  const auto y = x.matmul(torch::tensor({{2.0f}, {-3.0f}})) + 0.5;
  torch::nn::Linear line(torch::nn::LinearOptions(2, 1).bias(true));
  {
    torch::NoGradGuard guard;
    line->weight.copy_(torch::tensor({{0.1, 0.2}}));
    line->bias.zero_();
  }
  torch::optim::SGD sgd(line->parameters(),
                        torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-4));
  for (int step = 0; step < 60; ++step) {
    sgd.zero_grad();
    auto loss = torch::mse_loss(line(x), y);
    loss.backward();
    sgd.step();
    if (step % 20 == 0) std::printf("step %d loss %.5f\n", step, loss.item<double>());
  }
  std::cout << line->weight.detach() << line->bias.detach() << "\n" << line << "\n";
  for (const auto& parameter : line->named_parameters())
    std::cout << parameter.key() << " " << parameter.value().sizes() << "\n";
  for (const auto& parameter : line->parameters())
    std::cout << parameter.grad().sizes() << parameter.requires_grad() << "\n";
  torch::optim::SGD plain({line->weight}, 0.5);
  line->zero_grad();
  line(x).sum().backward();
  plain.step();
  std::cout << line->weight.detach() << "\n";
}
