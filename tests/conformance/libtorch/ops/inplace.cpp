// Changes in place: views, versions, leaves.
#include <torch/torch.h>

#include <iostream>

int main() {
  auto leaf = torch::tensor({{1.0, 2.0}, {3.0, 4.0}}, torch::requires_grad());
  auto x = leaf * 1;
  auto row = x[0];
  row.mul_(10);
  std::cout << x << x._version() << row._version() << "\n";
  x.sum().backward();
  std::cout << leaf.grad() << "\n";

  leaf.mutable_grad().zero_();
  x = leaf.clone();
  auto column = x.select(1, 1);
  auto flat = x.view({4});
  column.mul_(leaf.detach().select(1, 1));
  x[1].fill_(2);
  flat[0] *= leaf[1][1];
  flat.pow(2).sum().backward();
  std::cout << x.detach() << leaf.grad() << "\n";

  leaf.mutable_grad().zero_();
  auto y = torch::zeros({2, 2});
  y[0] = leaf[1] * 2;
  y.slice(0, 1, 2).copy_(leaf.slice(0, 0, 1).exp());
  y.t().add_(1);
  (y * torch::tensor({{1.0, 2.0}, {3.0, 4.0}})).sum().backward();
  std::cout << y.requires_grad() << y.detach() << leaf.grad() << "\n";

  const auto refused = [](const char* what, auto f) {
    try {
      f();
      std::cout << what << ": taken\n";
    } catch (const c10::Error&) {
      std::cout << what << ": refused\n";
    }
  };
  refused("a leaf", [&] { leaf.add_(1); });
  refused("a view of a leaf", [&] { leaf[0].add_(1); });
  refused("a leaf under no_grad", [&] {
    torch::NoGradGuard guard;
    leaf.sub_(0.5);
  });
  refused("what exp saved", [&] {
    auto z = leaf.exp();
    z.add_(1);
    z.sum().backward();
  });
  refused("what mul saved", [&] {
    auto z = leaf * 2;
    auto product = z * z;
    z.zero_();
    product.sum().backward();
  });
  refused("what nobody saved", [&] {
    auto z = leaf * 2;
    auto sum = z + 1;
    z.zero_();
    sum.sum().backward();
  });
  refused("a part of an unbind", [&] { (leaf * 1).unbind()[0].mul_(2); });
  refused("an expanded tensor", [&] { torch::ones({1}).expand({3}).add_(1); });
  refused("detached", [&] {
    auto z = leaf * 1;
    z.detach().mul_(2);
    std::cout << z._version();
  });
  auto a = torch::ones({3});
  a.detach_().requires_grad_();
  auto b = a * 1;
  b.detach_();
  std::cout << leaf << b.requires_grad() << b.is_leaf() << "\n";
}
