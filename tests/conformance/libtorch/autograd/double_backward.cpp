// Gradients of gradients.
#include <torch/torch.h>

#include <iostream>

torch::Tensor gradient(const torch::Tensor& y, const torch::Tensor& x) {
  return torch::autograd::grad({y}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
}

int main() {
  auto x = torch::tensor(1.5, torch::dtype(torch::kDouble).requires_grad(true));
  auto y = x.sin() * x.exp();
  for (int order = 0; order < 4; ++order) {
    std::cout << y.item<double>() << "\n";
    y = gradient(y, x);
  }

  // A Hessian, row by row.
  auto p = torch::tensor({0.5, -1.0, 2.0}, torch::dtype(torch::kDouble).requires_grad(true));
  auto f = (p.pow(3)).sum() * p[0] + torch::tanh(p.prod());
  auto g = gradient(f, p);
  std::vector<torch::Tensor> rows;
  for (int64_t i = 0; i < p.numel(); ++i) rows.push_back(gradient(g[i], p).detach());
  std::cout << g.detach() << "\n" << torch::stack(rows) << "\n";

  // A gradient penalty, as in WGAN-GP.
  auto w = torch::linspace(-1, 1, 6, torch::kDouble).view({3, 2}).requires_grad_();
  auto in = torch::tensor({{0.2, -0.4, 1.0}}, torch::dtype(torch::kDouble).requires_grad(true));
  auto out = torch::sigmoid(in.matmul(w)).sum();
  auto penalty = (gradient(out, in).norm(2, 1) - 1).pow(2).mean();
  penalty.backward();
  std::cout << penalty.item<double>() << "\n" << w.grad() << "\n";

  // Newton's method on one variable.
  auto root = torch::tensor(2.0, torch::dtype(torch::kDouble).requires_grad(true));
  for (int step = 0; step < 6; ++step) {
    auto value = root.pow(3) - 2 * root - 5;
    auto slope = torch::autograd::grad({value}, {root})[0];
    torch::NoGradGuard guard;
    root -= value / slope;
  }
  std::cout << root.item<double>() << "\n";

  // backward with create_graph leaves a gradient that has a graph.
  auto v = torch::tensor(3.0, torch::requires_grad());
  (v * v * v).backward({}, /*retain_graph=*/c10::nullopt, /*create_graph=*/true);
  auto first = v.grad();
  std::cout << first.requires_grad() << " " << first.item<float>() << " "
            << torch::autograd::grad({first}, {v})[0].item<float>() << "\n";
}
