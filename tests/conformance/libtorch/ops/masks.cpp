// Masks: where, masked_*, nonzero.
#include <torch/torch.h>

#include <iostream>

int main() {
  const auto x = torch::tensor({{1.0, -2.0, 3.0}, {-4.0, 5.0, 0.0}});
  const auto mask = x > 0;
  std::cout << mask << "\n" << torch::where(mask, x, torch::zeros_like(x)) << "\n";
  std::cout << torch::where(mask, x, 0.0) << "\n"
            << torch::where(mask, 1, torch::tensor(0)) << "\n";
  std::cout << x.where(mask, -x) << "\n";
  std::cout << x.masked_fill(mask, -1) << "\n" << x.masked_fill(~mask, torch::tensor(9.0)) << "\n";
  std::cout << x.masked_select(mask) << "\n"
            << x.masked_select(torch::tensor({true, false, true})) << "\n";
  std::cout << torch::zeros({2, 3}).masked_scatter_(mask, torch::arange(5, torch::kFloat)) << "\n";
  std::cout << x.nonzero() << "\n"
            << torch::nonzero(mask).sizes() << "\n"
            << torch::argwhere(mask) << "\n";
  const auto columns = torch::where(mask);
  std::cout << columns.size() << " " << columns[0] << " " << columns[1] << "\n";

  auto y = x.clone();
  y.masked_fill_(y.lt(0), 0);
  std::cout << y << "\n" << (y != x).sum().item<int64_t>() << "\n";
  std::cout << torch::isnan(torch::tensor({1.0f, NAN}))
            << torch::isinf(torch::tensor({1.0f, -INFINITY}))
            << torch::isfinite(torch::tensor({1.0f, NAN, INFINITY})) << "\n";

  auto w = torch::tensor({1.0, -1.0, 2.0}).requires_grad_();
  torch::where(w > 0, w * w, w * 3).sum().backward();
  std::cout << w.grad() << "\n";
  w.mutable_grad().zero_();
  w.masked_fill(w < 0, 0).pow(3).sum().backward();
  std::cout << w.grad() << "\n";
  w.mutable_grad().zero_();
  // The square root of what is masked out has no finite slope, and must not matter.
  torch::where(w > 0, w, torch::ones_like(w)).sqrt().masked_select(w > 0).sum().backward();
  std::cout << w.grad() << "\n";
  std::cout << (mask & (x < 4)) << "\n"
            << (mask | (x == 0)) << "\n"
            << mask.logical_xor(x > 2) << "\n"
            << mask.bitwise_not() << "\n"
            << mask.logical_not() << "\n";
}
