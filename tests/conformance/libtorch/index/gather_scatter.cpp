// gather, scatter and their relatives.
#include <torch/torch.h>

#include <iostream>

int main() {
  const auto x = torch::arange(12, torch::kFloat).view({3, 4});
  const auto index = torch::tensor({{0, 1, 2, 0}, {2, 0, 0, 1}});
  std::cout << x.gather(0, index) << "\n"
            << torch::gather(x, 1, torch::tensor({{3}, {0}, {1}})) << "\n";
  std::cout << torch::zeros({3, 4}).scatter_(0, index, x) << "\n";
  std::cout << torch::zeros({3, 4}).scatter_(1, torch::tensor({{1}, {2}, {3}}), 7.0) << "\n";
  std::cout << torch::ones({3, 4}).scatter_add(0, index, x) << "\n";
  std::cout << torch::ones({3, 4}).scatter_reduce(0, index, x, "amax") << "\n"
            << torch::ones({3, 4}).scatter_reduce(0, index, x, "sum", /*include_self=*/false)
            << "\n"
            << torch::full({3, 4}, 2.0).scatter_reduce(0, index, x, "prod") << "\n";
  std::cout << x.index_select(0, torch::tensor({2, 0})) << "\n"
            << torch::index_select(x, 1, torch::tensor({1, 1, 3})) << "\n";
  std::cout << torch::zeros({3, 2}).index_add_(0, torch::tensor({0, 0, 2}), torch::ones({3, 2}))
            << "\n"
            << torch::zeros({3, 2}).index_copy_(0, torch::tensor({2}), torch::ones({1, 2})) << "\n"
            << torch::zeros({3, 2}).index_fill_(1, torch::tensor({1}), 5) << "\n";
  std::cout << x.take(torch::tensor({0, 5, 11})) << "\n"
            << torch::zeros({2, 2}).put_(torch::tensor({1, 3}), torch::tensor({4.0, 5.0})) << "\n";
  std::cout << torch::take_along_dim(x, x.argsort(1, /*descending=*/true), 1) << "\n";

  auto w = torch::arange(6, torch::kDouble).view({2, 3}).requires_grad_();
  auto y = w.gather(1, torch::tensor({{0, 0}, {2, 1}}));
  y.mul(torch::tensor({{1.0, 2.0}, {3.0, 4.0}}, torch::kDouble)).sum().backward();
  std::cout << w.grad() << " " << y.grad_fn()->name() << "\n";
  auto source = torch::ones({2, 2}, torch::kDouble).requires_grad_();
  auto out =
      torch::zeros({2, 3}, torch::kDouble).scatter_add(1, torch::tensor({{0, 0}, {1, 2}}), source);
  out.pow(3).sum().backward();
  std::cout << source.grad() << "\n";
  for (int kind = 0; kind < 3; ++kind) {
    try {
      if (kind == 0) x.gather(0, torch::tensor({{3}}));
      if (kind == 1) x.gather(2, index);
      if (kind == 2) x.index_select(0, torch::tensor({{0}, {1}}));
    } catch (const c10::Error&) {
      std::cout << "refused " << kind << "\n";
    }
  }
}
