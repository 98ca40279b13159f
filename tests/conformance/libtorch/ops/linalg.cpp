// Linear algebra: values, shapes, older names, and what derivatives exist of it.
#include <torch/torch.h>

#include <iostream>

torch::Tensor rounded(const torch::Tensor& x) { return (x * 1000).round() / 1000 + 0.0; }

int main() {
  const torch::Tensor a = torch::tensor({4., 2., 1., 2., 5., 3., 1., 3., 6.}).view({3, 3});
  const torch::Tensor b = torch::arange(6.).view({3, 2});
  const torch::Tensor batch = torch::stack({a, a.t() + torch::eye(3)});

  std::cout << rounded(torch::linalg::cholesky(a)) << rounded(a.cholesky(true)) << "\n";
  std::cout << rounded(torch::linalg::inv(batch)) << rounded(a.inverse()) << "\n";
  std::cout << rounded(torch::linalg::solve(a, b, true))
            << rounded(torch::linalg::solve_triangular(a, b, true, true, false)) << "\n";
  std::cout << rounded(torch::linalg::det(batch)) << rounded(a.logdet()) << rounded(a.det())
            << "\n";
  const auto [sign, logabsdet] = torch::linalg::slogdet(a);
  std::cout << sign << rounded(logabsdet) << "\n";
  const auto [p, l, u] = torch::linalg::lu(a, true);
  std::cout << p << rounded(l) << rounded(u) << "\n";
  const auto [lu, pivots] = torch::linalg::lu_factor(a, true);
  std::cout << pivots << rounded(torch::lu_solve(b, lu, pivots)) << "\n";
  const auto [q, r] = torch::linalg::qr(b);
  std::cout << rounded(q.abs()) << rounded(r.abs()) << "\n";
  const auto [values, vectors] = torch::linalg::eigh(a, "L");
  std::cout << rounded(values) << rounded(vectors.abs()) << rounded(torch::linalg::eigvalsh(a, "U"))
            << "\n";
  const auto [left, s, right] = torch::linalg::svd(b, false, c10::nullopt);
  std::cout << rounded(left.abs()) << rounded(s) << rounded(right.abs()) << "\n";
  std::cout << rounded(torch::linalg::svdvals(b, c10::nullopt)) << std::get<0>(b.svd(false)).sizes()
            << "\n";
  std::cout << rounded(torch::linalg::pinv(b)) << rounded(b.pinverse()) << "\n";
  std::cout << torch::linalg::matrix_rank(b, 1e-6, false) << rounded(torch::linalg_cond(a)) << "\n";
  std::cout << rounded(torch::linalg::matrix_power(a, -1)) << rounded(torch::matrix_exp(a / 8))
            << "\n";
  std::cout << rounded(torch::linalg_matrix_norm(a, 2))
            << rounded(torch::linalg_matrix_norm(a, "nuc")) << "\n";
  std::cout << rounded(std::get<0>(torch::linalg_lstsq(b, b.select(1, 0).unsqueeze(1)))) << "\n";
  std::cout << rounded(torch::cholesky_solve(b, a.cholesky()))
            << rounded(torch::cholesky_inverse(a.cholesky())) << "\n";
  std::cout << rounded(std::get<0>(torch::triangular_solve(b, a, false, true))) << "\n";
  std::cout << std::get<1>(torch::linalg_inv_ex(torch::ones({2, 2, 2}))) << "\n";

  const torch::Tensor x = a.clone().requires_grad_();
  torch::linalg::solve(x, b, true).sum().backward();
  std::cout << rounded(x.grad()) << "\n";
  x.mutable_grad() = torch::Tensor();
  (x.det() + std::get<1>(torch::linalg::slogdet(x)) + torch::linalg::svdvals(x, c10::nullopt).sum())
      .backward();
  std::cout << rounded(x.grad()) << "\n";
  for (const auto& call : {+[](const torch::Tensor& y) { return torch::linalg::cholesky(y); },
                           +[](const torch::Tensor& y) { return torch::linalg::inv(y); }})
    try {
      call(torch::ones({2, 2, 2}));
    } catch (const c10::LinAlgError& error) {
      std::cout << "LinAlgError\n";
    }
}
