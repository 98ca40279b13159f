// Products of matrices, and the algorithms that are written with them.
#include <torch/torch.h>

#include <iostream>

using torch::Tensor;
static torch::TensorOptions f64() { return torch::dtype(torch::kFloat64); }

// LU without pivots, by views in place.
static std::pair<Tensor, Tensor> lu(Tensor a) {
  const auto n = a.size(0);
  auto u = a.clone(), l = torch::eye(n, a.options());
  for (int64_t k = 0; k + 1 < n; ++k) {
    auto factors = u.slice(0, k + 1).select(1, k) / u[k][k];
    l.slice(0, k + 1).select(1, k).copy_(factors);
    u.slice(0, k + 1) -= factors.outer(u[k]);
  }
  return {l, u};
}
static Tensor gram_schmidt(const Tensor& a) {
  std::vector<Tensor> q;
  for (const auto& column : a.unbind(1)) {
    auto v = column.clone();
    for (auto& w : q) v.sub_(w * w.dot(column));
    q.push_back(v.div_(v.norm()));
  }
  return torch::stack(q, /*dim=*/1);
}
static Tensor conjugate_gradient(const Tensor& a, const Tensor& b) {
  auto x = torch::zeros_like(b), r = b.clone(), p = r.clone();
  for (int i = 0; i < 10 && r.norm().item<double>() > 1e-12; ++i) {
    auto rr = r.dot(r), ap = a.matmul(p), alpha = rr / p.dot(ap);
    x += alpha * p;
    r -= alpha * ap;
    p = r + r.dot(r) / rr * p;
  }
  return x;
}

int main() {
  auto a = torch::tensor({{4.0, 1.0, 2.0}, {1.0, 5.0, 3.0}, {2.0, 3.0, 6.0}}, f64());
  auto b = torch::arange(1, 4, f64());
  auto [l, u] = lu(a);
  std::cout << l << u << torch::allclose(l.mm(u), a) << "\n";
  auto q = gram_schmidt(a);
  std::cout << torch::allclose(q.t().mm(q), torch::eye(3, f64()), 1e-5, 1e-8) << "\n";
  std::cout << a.mv(conjugate_gradient(a, b)) << "\n";
  auto batch = torch::arange(12, f64()).view({2, 2, 3});
  std::cout << batch.matmul(b) << torch::matmul(a, b) << torch::matmul(b, a)
            << batch.bmm(batch.mT()) << "\n";
  std::cout << torch::matmul(batch, a).sizes()
            << torch::matmul(torch::ones({2, 1, 2, 3}), torch::ones({4, 3, 1})).sizes()
            << torch::matmul(b, b) << torch::dot(b, b) << b.inner(b) << b.outer(b) << b.ger(b)
            << torch::vdot(b, b) << "\n";
  std::cout << torch::addmm(a, a, a, 0.5, 2) << b.addmv(a, b) << a.addr(b, b)
            << batch.baddbmm(batch.slice(2, 0, 2), batch)
            << torch::addbmm(torch::zeros({2, 3}, f64()), batch.slice(2, 0, 2), batch)
            << torch::chain_matmul({a, a, a}) << torch::linalg::multi_dot({a, a}) << "\n";
  std::cout << torch::einsum("ij,j->i", {a, b}) << torch::einsum("bij,bkj->bik", {batch, batch})
            << torch::einsum("ii", {a}) << torch::einsum("i,j", {b, b})
            << torch::einsum("...ij->...ji", {batch}) << torch::einsum("ij->", {a}) << "\n";
  std::cout << torch::tensordot(batch, a, {2}, {0}) << torch::tensordot(a, a, {0, 1}, {1, 0})
            << torch::kron(b, torch::ones({2}, f64())) << torch::cross(b, a[0])
            << torch::linalg_cross(a, a.flip(0), -1) << "\n";
  std::cout << torch::cdist(a, a, 1) << torch::pairwise_distance(a, b.unsqueeze(0))
            << torch::cosine_similarity(a, b.unsqueeze(0)) << torch::dist(a, b, 1)
            << a.renorm(2, 0, 5) << a.matrix_power(3) << torch::matrix_power(a, 0) << "\n";
  std::cout << a.diag() << torch::diag(b) << a.tril(-1) << a.triu() << a.diagonal(1)
            << torch::diag_embed(b, 1) << torch::diagflat(b, -1) << torch::trace(a)
            << torch::block_diag({a, b.unsqueeze(0)}).sizes() << torch::vander(b) << "\n";
  Tensor out = torch::empty({0}, f64());
  torch::mm_out(out, a, a);
  std::cout << out << torch::add_out(out, a, a, 2) << torch::matmul_out(out, a, b) << "\n";
  auto w = torch::ones({3, 3}, f64().requires_grad(true));
  (w.matmul(b) - b).pow(2).sum().backward();
  std::cout << w.grad() << "\n";
  auto integers = torch::arange(4).view({2, 2});
  std::cout << integers.mm(integers) << integers.matmul(integers[0]) << integers.mv(integers[1])
            << torch::ones({2, 0}).mm(torch::ones({0, 3})) << "\n";
}
