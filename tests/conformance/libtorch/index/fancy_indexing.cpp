// Indexing with masks and tensors of numbers.
#include <torch/torch.h>

#include <iostream>

using namespace torch::indexing;

int main() {
  torch::Tensor x = torch::arange(24).view({2, 3, 4});
  const auto i = torch::tensor({0, 1, 1}), j = torch::tensor({2, 0, -1});
  std::cout << x.index({i, j}) << "\n" << x.index({i, Slice(), j}) << "\n";
  std::cout << x.index({Slice(), j}) << "\n"
            << x.index({Slice(), j, torch::tensor({{0}, {3}})}) << "\n";
  std::cout << x.index({torch::tensor({1}), "...", torch::tensor({{0, 1}})}).sizes() << "\n";
  std::cout << x.index({x > 18}) << "\n" << x.index({torch::tensor({true, false})}).sizes() << "\n";
  std::cout << x.index({0, torch::tensor({true, false, true}), Slice(0, 2)}) << "\n";
  std::cout << x.index({i}).sizes() << x.index({torch::tensor(1)}).sizes() << "\n";

  torch::Tensor y = torch::zeros({4, 3});
  y.index_put_({torch::tensor({0, 3})}, 1);
  y.index_put_({torch::tensor({1, 2}), torch::tensor({0, 2})}, torch::tensor({5.0, 6.0}));
  std::cout << y << "\n";
  y.index_put_({torch::tensor({0, 0, 0}), torch::tensor({1, 1, 2})}, torch::ones({3}),
               /*accumulate=*/true);
  std::cout << y << "\n";
  y.index_put_({y > 1}, -1);
  std::cout << y << "\n";
  y.index_put_({Slice(), torch::tensor({0, 1})}, torch::arange(4, torch::kFloat).view({4, 1}));
  std::cout << y << "\n" << y.index_put({torch::tensor({0})}, torch::tensor(50.0)) << "\n";

  // Their gradients.
  torch::Tensor w = torch::arange(6, torch::kDouble).view({2, 3}).requires_grad_();
  (w.index({torch::tensor({0, 1, 0}), torch::tensor({1, 2, 1})}) * torch::tensor({1, 2, 3}))
      .sum()
      .backward();
  std::cout << w.grad() << "\n";
  w.mutable_grad() = torch::Tensor();
  w.index({w > 2}).pow(2).sum().backward();
  std::cout << w.grad() << "\n";
  torch::Tensor values = torch::tensor({1.0, 2.0}, torch::kDouble).requires_grad_();
  torch::Tensor base = w * 2;
  base.index_put_({torch::tensor({0, 1}), torch::tensor({0, 0})}, values);
  std::cout << torch::autograd::grad({(base * base).sum()}, {values})[0] << "\n";

  try {
    x.index({torch::tensor({2})});
  } catch (const c10::Error&) {
    std::cout << "out of range\n";
  }
  try {
    x.index({torch::tensor({true, false, true})});
  } catch (const c10::Error&) {
    std::cout << "a mask of another size\n";
  }
}
