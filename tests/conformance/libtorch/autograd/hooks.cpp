// Hooks on tensors, and retained gradients.
#include <torch/torch.h>

#include <iostream>

int main() {
  auto x = torch::ones({2}, torch::requires_grad());
  auto y = x * 2;
  int calls = 0;
  y.register_hook([&](torch::Tensor grad) {
    ++calls;
    std::cout << "gradient of y: " << grad << "\n";
  });
  const unsigned handle = x.register_hook([](torch::Tensor grad) { return grad * 10; });
  y.retain_grad();
  (y * torch::tensor({1.0, 3.0})).sum().backward();
  std::cout << calls << x.grad() << y.grad() << "\n";

  x.remove_hook(handle);
  x.mutable_grad() = torch::Tensor();
  (x * 5).sum().backward();
  std::cout << x.grad() << "\n";

  // Hooks run in the order in which they were registered, each on the result of the one before.
  auto a = torch::tensor(1.0, torch::requires_grad());
  auto b = a * 3;
  b.register_hook([](torch::Tensor grad) { return grad + 1; });
  b.register_hook([](torch::Tensor grad) { return grad * 4; });
  b.backward();
  std::cout << a.grad().item<float>() << "\n";

  // Clipping what flows back.
  auto w = torch::tensor({100.0, -0.5}, torch::requires_grad());
  w.register_hook([](torch::Tensor grad) { return grad.clamp(-1, 1); });
  (w * w).sum().backward();
  std::cout << w.grad() << "\n";

  std::vector<std::string> order;
  auto p = torch::ones({1}, torch::requires_grad());
  auto q = p.exp(), r = q.log();
  r.register_hook([&](torch::Tensor) { order.push_back("r"); });
  q.register_hook([&](torch::Tensor) { order.push_back("q"); });
  p.register_hook([&](torch::Tensor) { order.push_back("p"); });
  r.backward();
  for (const auto& name : order) std::cout << name << " ";
  std::cout << "\n";
  try {
    torch::ones({1}).register_hook([](torch::Tensor) {});
  } catch (const c10::Error&) {
    std::cout << "requires no grad\n";
  }
}
