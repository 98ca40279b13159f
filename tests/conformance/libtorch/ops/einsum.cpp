// einsum, and what it writes shorter.
#include <torch/torch.h>

#include <iostream>

int main() {
  const auto a = torch::arange(6, torch::kDouble).view({2, 3}),
             b = torch::arange(12, torch::kDouble).view({3, 4});
  const auto v = torch::tensor({1.0, 2.0, 3.0}, torch::kDouble);
  std::cout << torch::einsum("ij,jk->ik", {a, b}) << torch::einsum("ij,jk", {a, b}).sizes() << "\n";
  std::cout << torch::einsum("ij->ji", {a}) << torch::einsum("ij->", {a})
            << torch::einsum("ij->j", {a}) << "\n";
  std::cout << torch::einsum("i,j->ij", {v, v}) << torch::einsum("i,i", {v, v})
            << torch::einsum("ij,j->i", {a, v}) << "\n";
  const auto square = a.t().matmul(a);
  std::cout << torch::einsum("ii->i", {square}) << torch::einsum("ii", {square}) << "\n";
  const auto batch = torch::arange(12, torch::kDouble).view({2, 2, 3});
  std::cout << torch::einsum("bij,bkj->bik", {batch, batch})
            << torch::einsum("...ij->...ji", {batch}).sizes()
            << torch::einsum("...ij,jk->...ik", {batch, b}).sizes() << "\n";
  std::cout << torch::einsum("ij,ij->i", {a, a})
            << torch::einsum("ij,jk,k->i", {a, b, torch::ones({4}, torch::kDouble)}) << "\n";

  // Scaled dot product attention for two heads.
  auto q = torch::linspace(-1, 1, 12, torch::kDouble).view({1, 2, 3, 2}).requires_grad_();
  const auto k = q.detach() * 0.5, values = q.detach().flip({2});
  auto weights = torch::softmax(torch::einsum("bhqd,bhkd->bhqk", {q, k}) / std::sqrt(2.0), -1);
  auto out = torch::einsum("bhqk,bhkd->bhqd", {weights, values});
  std::cout << weights.sum(-1).detach() << out.detach() << "\n";
  out.pow(2).sum().backward();
  std::cout << q.grad() << "\n";
  for (const char* wrong : {"ij,jk->il", "ij,kl,m", "ijk,jk"}) {
    try {
      torch::einsum(wrong, {a, b});
      std::cout << "taken\n";
    } catch (const c10::Error&) {
      std::cout << "refused\n";
    }
  }
}
