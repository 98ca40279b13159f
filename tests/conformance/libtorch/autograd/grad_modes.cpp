// Modes that record no graph.
#include <torch/torch.h>

#include <iostream>

int main() {
  auto x = torch::ones({2}, torch::requires_grad());
  {
    torch::NoGradGuard guard;
    std::cout << torch::GradMode::is_enabled() << (x * 2).requires_grad() << "\n";
    {
      torch::AutoGradMode inner(true);
      std::cout << torch::GradMode::is_enabled() << (x * 2).requires_grad() << "\n";
    }
    x.mul_(3);
  }
  std::cout << torch::GradMode::is_enabled() << (x * 2).requires_grad() << x << "\n";
  {
    torch::AutoGradMode off(false);
    std::cout << (x + x).requires_grad() << "\n";
  }
  {
    c10::InferenceMode guard;
    auto y = x * 2;
    std::cout << y.requires_grad() << y.is_inference() << x.is_inference() << y << "\n";
  }
  // Steps by hand.
  auto w = torch::tensor({0.0, 0.0}, torch::requires_grad());
  const auto target = torch::tensor({1.0, -2.0});
  for (int step = 0; step < 20; ++step) {
    auto loss = (w - target).pow(2).sum();
    loss.backward();
    torch::NoGradGuard guard;
    w -= 0.2 * w.grad();
    w.mutable_grad().zero_();
  }
  std::cout << w.detach() << "\n";
  auto view = x.view({1, 2});
  std::cout << view.requires_grad() << view.is_view() << x.data().requires_grad()
            << x.detach().is_view() << "\n";
  torch::Tensor label = torch::tensor({1, 2});
  try {
    label.requires_grad_();
  } catch (const std::exception&) {
    std::cout << "whole numbers have no gradient\n";
  }
  try {
    (x * 2).requires_grad_(false);
  } catch (const std::exception&) {
    std::cout << "only of leaves\n";
  }
}
