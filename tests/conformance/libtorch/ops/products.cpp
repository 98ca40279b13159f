// Products of matrices and vectors.
#include <torch/torch.h>

#include <iostream>

int main() {
  const auto a = torch::arange(6, torch::kDouble).view({2, 3}),
             b = torch::arange(12, torch::kDouble).view({3, 4});
  const auto v = torch::tensor({1.0, -1.0, 2.0}, torch::kDouble);
  std::cout << torch::mm(a, b) << a.matmul(b) << a.mv(v) << v.dot(v) << torch::matmul(a, v) << "\n";
  const auto batch = torch::stack({a, a * 2}), other = torch::stack({b, -b});
  std::cout << torch::bmm(batch, other) << torch::matmul(batch, b).sizes()
            << torch::matmul(batch, v) << "\n";
  const auto bias = torch::ones({2, 4}, torch::kDouble);
  std::cout << torch::addmm(bias, a, b) << torch::addmm(bias, a, b, 2, 0.5)
            << torch::addmv(torch::ones({2}, torch::kDouble), a, v)
            << torch::addr(torch::zeros({2, 3}, torch::kDouble), torch::ones({2}, torch::kDouble),
                           v)
            << torch::baddbmm(torch::zeros({2, 2, 4}, torch::kDouble), batch, other).sum()
            << torch::addbmm(bias, batch, other) << "\n";
  std::cout << torch::outer(v, v) << torch::ger(v, v).sum() << torch::inner(a, v)
            << torch::kron(a, torch::eye(2, torch::kDouble)) << "\n";
  std::cout << torch::tensordot(batch, b, {2}, {0}).sizes()
            << torch::tensordot(a, a, {0, 1}, {0, 1}) << "\n";
  std::cout << torch::linear(a, b.t(), torch::ones({4}, torch::kDouble))
            << torch::nn::functional::linear(v, b.t()) << "\n";
  std::cout << torch::matrix_power(a.matmul(a.t()), 3) << torch::chain_matmul({a, b, b.t()})
            << torch::trace(a.matmul(a.t())) << "\n";
  std::cout << torch::cross(v, v.flip({0}), 0) << torch::linalg_norm(a)
            << torch::linalg_vector_norm(v, 1) << torch::cosine_similarity(a, v.unsqueeze(0))
            << torch::vdot(v, v) << "\n";
  std::cout << torch::mm(torch::tensor({{1, 2}, {3, 4}}), torch::tensor({{1}, {2}}))
            << torch::mm(torch::zeros({2, 0}), torch::zeros({0, 3})) << "\n";

  auto x = a.clone().requires_grad_(), y = b.clone().requires_grad_();
  torch::addmm(bias, x, y, 0.5, 2).pow(2).sum().backward();
  std::cout << x.grad() << y.grad() << "\n";
  int refused = 0;
  const auto tries = [&](auto f) {
    try {
      f();
    } catch (const c10::Error&) {
      ++refused;
    }
  };
  tries([&] { torch::mm(a, a); });
  tries([&] { torch::mm(a, v); });
  tries([&] { torch::bmm(a, b); });
  tries([&] { v.dot(torch::ones({2}, torch::kDouble)); });
  tries([&] { torch::mm(a, b.to(torch::kFloat)); });
  std::cout << refused << "\n";
}
