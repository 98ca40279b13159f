// First and second derivatives of every function of linear algebra against finite differences. What
// has no fixed sign enters as what does not depend on it; what reads one triangle gets symmetric
// matrices.
#include "gradus/autograd/tools/gradcheck.h"
#include "tests/linalg/matrices.h"

namespace gradus {
namespace {

using autograd::CheckedFunction;

Tensor leaf(IntArrayRef sizes) { return randn(sizes, kDouble).requires_grad_(); }
Tensor symmetric(const Tensor& x) { return (x + x.mT()) / 2; }
Tensor definite(const Tensor& x) { return x.matmul(x.mT()) + 2 * eye(x.size(-1), x.options()); }
Tensor invertible(const Tensor& x) { return x + 4 * eye(x.size(-1), x.options()); }

struct Derived {
  const char* name;
  CheckedFunction f;
  std::vector<std::vector<int64_t>> sizes;
};

const std::vector<Derived>& derived() {
  static const std::vector<Derived> all = {
      {"cholesky",
       [](const Tensors& x) { return Tensors{linalg_cholesky(definite(x[0]))}; },
       {{2, 3, 3}}},
      {"cholesky upper",
       [](const Tensors& x) { return Tensors{linalg_cholesky(definite(x[0]), true)}; },
       {{3, 3}}},
      {"cholesky_solve",
       [](const Tensors& x) { return Tensors{cholesky_solve(x[1], invertible(x[0]).tril())}; },
       {{3, 3}, {2, 3, 2}}},
      {"cholesky_inverse",
       [](const Tensors& x) { return Tensors{cholesky_inverse(invertible(x[0]).triu(), true)}; },
       {{3, 3}}},
      {"solve",
       [](const Tensors& x) { return Tensors{linalg_solve(invertible(x[0]), x[1])}; },
       {{2, 3, 3}, {3, 2}}},
      {"solve right",
       [](const Tensors& x) { return Tensors{linalg_solve(invertible(x[0]), x[1], false)}; },
       {{3, 3}, {2, 2, 3}}},
      {"solve vector",
       [](const Tensors& x) { return Tensors{linalg_solve(invertible(x[0]), x[1])}; },
       {{2, 3, 3}, {2, 3}}},
      {"solve_triangular",
       [](const Tensors& x) {
         return Tensors{linalg_solve_triangular(invertible(x[0]), x[1], true)};
       },
       {{2, 3, 3}, {3, 2}}},
      {"solve_triangular unit, right",
       [](const Tensors& x) {
         return Tensors{linalg_solve_triangular(x[0], x[1], false, false, true)};
       },
       {{3, 3}, {2, 3}}},
      {"triangular_solve",
       [](const Tensors& x) {
         return Tensors{std::get<0>(triangular_solve(x[1], invertible(x[0]), true, true))};
       },
       {{3, 3}, {3, 2}}},
      {"inv", [](const Tensors& x) { return Tensors{linalg_inv(invertible(x[0]))}; }, {{2, 3, 3}}},
      {"tensorinv",
       [](const Tensors& x) { return Tensors{linalg_tensorinv(x[0], 1)}; },
       {{4, 2, 2}}},
      {"tensorsolve",
       [](const Tensors& x) { return Tensors{linalg_tensorsolve(x[0], x[1])}; },
       {{2, 2, 4}, {2, 2}}},
      {"matrix_power",
       [](const Tensors& x) { return Tensors{matrix_power(invertible(x[0]), -2)}; },
       {{2, 2}}},
      {"det", [](const Tensors& x) { return Tensors{x[0].det()}; }, {{2, 3, 3}}},
      {"slogdet",
       [](const Tensors& x) { return Tensors{std::get<1>(x[0].slogdet())}; },
       {{2, 3, 3}}},
      {"logdet", [](const Tensors& x) { return Tensors{definite(x[0]).logdet()}; }, {{3, 3}}},
      {"lu",
       [](const Tensors& x) {
         const auto [p, l, u] = linalg_lu(x[0]);
         return Tensors{l, u};
       },
       {{2, 3, 3}}},
      {"lu tall",
       [](const Tensors& x) {
         const auto [p, l, u] = linalg_lu(x[0]);
         return Tensors{l, u};
       },
       {{4, 2}}},
      {"lu wide",
       [](const Tensors& x) {
         const auto [p, l, u] = linalg_lu(x[0]);
         return Tensors{l, u};
       },
       {{2, 4}}},
      {"lu_solve",
       [](const Tensors& x) {
         const auto [lu, pivots] = linalg_lu_factor(x[0]);
         return Tensors{linalg_lu_solve(lu, pivots, x[1])};
       },
       {{3, 3}, {2, 3, 2}}},
      {"lu_solve adjoint, right",
       [](const Tensors& x) {
         const auto [lu, pivots] = linalg_lu_factor(x[0]);
         return Tensors{linalg_lu_solve(lu, pivots, x[1], true, true),
                        linalg_lu_solve(lu, pivots, x[1].mT(), false)};
       },
       {{3, 3}, {3, 2}}},
      // Signs of R's diagonal are fixed here, and with them those of Q.
      {"qr",
       [](const Tensors& x) {
         const auto [q, r] = linalg_qr(x[0]);
         return Tensors{q, r};
       },
       {{2, 4, 3}}},
      {"qr wide",
       [](const Tensors& x) {
         const auto [q, r] = linalg_qr(x[0]);
         return Tensors{q, r};
       },
       {{2, 4}}},
      {"qr complete",
       [](const Tensors& x) {
         const auto [q, r] = linalg_qr(x[0], "complete");
         return Tensors{q, r};
       },
       {{3, 3}}},
      {"qr of q alone",
       [](const Tensors& x) { return Tensors{std::get<0>(linalg_qr(x[0]))}; },
       {{3, 2}}},
      {"qr of r alone", [](const Tensors& x) { return Tensors{std::get<1>(x[0].qr())}; }, {{2, 3}}},
      {"eigh values",
       [](const Tensors& x) { return Tensors{std::get<0>(linalg_eigh(symmetric(x[0])))}; },
       {{2, 3, 3}}},
      {"eigh vectors",
       [](const Tensors& x) {
         const auto [values, vectors] = linalg_eigh(symmetric(x[0]));
         return Tensors{values, vectors.abs(),
                        vectors.narrow(-1, 0, 1).matmul(vectors.narrow(-1, 0, 1).mT())};
       },
       {{3, 3}}},
      {"eigvalsh",
       [](const Tensors& x) { return Tensors{linalg_eigvalsh(symmetric(x[0]), "U")}; },
       {{3, 3}}},
      {"svdvals", [](const Tensors& x) { return Tensors{linalg_svdvals(x[0])}; }, {{2, 3, 4}}},
      {"svd tall",
       [](const Tensors& x) {
         const auto [u, s, vh] = linalg_svd(x[0], false);
         return Tensors{u.abs(), s, vh.abs(), u.narrow(-1, 0, 1).matmul(vh.narrow(-2, 0, 1))};
       },
       {{4, 3}}},
      {"svd wide",
       [](const Tensors& x) {
         const auto [u, s, v] = x[0].svd();
         return Tensors{u.abs(), s, v.abs(), u.narrow(-1, 1, 1).matmul(v.narrow(-1, 1, 1).mT())};
       },
       {{2, 3, 4}}},
      {"svd full",
       [](const Tensors& x) {
         return Tensors{std::get<0>(linalg_svd(x[0])).narrow(-1, 0, 2).abs()};
       },
       {{3, 2}}},
      {"pinv tall", [](const Tensors& x) { return Tensors{linalg_pinv(x[0])}; }, {{2, 4, 3}}},
      {"pinv wide", [](const Tensors& x) { return Tensors{x[0].pinverse()}; }, {{2, 3}}},
      {"pinv of rank 2",
       [](const Tensors& x) { return Tensors{linalg_pinv(x[0].matmul(x[1]), 1e-9)}; },
       {{4, 2}, {2, 3}}},
      {"pinv hermitian",
       [](const Tensors& x) { return Tensors{linalg_pinv(symmetric(x[0]), 1e-9, true)}; },
       {{3, 3}}},
      {"lstsq tall",
       [](const Tensors& x) {
         const auto [y, residuals, rank, none] = linalg_lstsq(x[0], x[1], std::nullopt, "gelsd");
         return Tensors{y, residuals};
       },
       {{4, 2}, {4, 2}}},
      {"lstsq wide",
       [](const Tensors& x) {
         return Tensors{std::get<0>(linalg_lstsq(x[0], x[1], std::nullopt, "gels"))};
       },
       {{2, 2, 3}, {2, 2}}},
      {"cond",
       [](const Tensors& x) {
         return Tensors{linalg_cond(x[0]), linalg_cond(x[0], -2)};
       },
       {{2, 3, 3}}},
      {"cond by inverses",
       [](const Tensors& x) {
         return Tensors{linalg_cond(x[0], 1), linalg_cond(x[0], INFINITY), linalg_cond(x[0], "fro"),
                        linalg_cond(x[0], "nuc")};
       },
       {{3, 3}}},
      {"matrix_norm",
       [](const Tensors& x) {
         return Tensors{linalg_matrix_norm(x[0], 2), linalg_matrix_norm(x[0], -2, {0, 2}, true),
                        linalg_matrix_norm(x[0], "nuc")};
       },
       {{2, 3, 4}}},
      {"matrix_exp", [](const Tensors& x) { return Tensors{x[0].matrix_exp()}; }, {{2, 3, 3}}},
      {"matrix_exp of large ones",
       [](const Tensors& x) { return Tensors{(x[0] * 4).matrix_exp() * 1e-4}; },
       {{2, 2}}},
  };
  return all;
}

class LinalgDerivatives : public ::testing::TestWithParam<size_t> {};

TEST_P(LinalgDerivatives, AreThoseOfFiniteDifferences) {
  const Derived& one = derived()[GetParam()];
  SCOPED_TRACE(one.name);
  manual_seed(5);
  Tensors leaves;
  for (const auto& sizes : one.sizes) leaves.push_back(leaf(sizes));
  EXPECT_TRUE(autograd::gradcheck(one.f, leaves)) << one.name;
  EXPECT_TRUE(autograd::gradgradcheck(one.f, leaves)) << one.name;
}
INSTANTIATE_TEST_SUITE_P(All, LinalgDerivatives, ::testing::Range<size_t>(0, derived().size()));

// The gradients of a device are those of the CPU.
TEST(LinalgGradients, AreTheSameOnEveryDevice) {
  for (const Derived& one : derived()) {
    SCOPED_TRACE(one.name);
    std::vector<Tensors> grads;
    for (const Device device : cpu_and_cuda()) {
      manual_seed(5);
      Tensors leaves;
      for (const auto& sizes : one.sizes)
        leaves.push_back(randn(sizes, kDouble).to(device).requires_grad_());
      Tensor sum = zeros({}, TensorOptions(kDouble).device(device));
      for (const Tensor& y : one.f(leaves)) sum = sum + (y * y).sum();
      sum.backward();
      grads.emplace_back();
      for (const Tensor& x : leaves) grads.back().push_back(x.grad());
    }
    for (const Tensors& other : grads)
      for (size_t i = 0; i < other.size(); ++i)
        expect_values(other[i], to_vector(grads[0][i]), 1e-7);
  }
}

TEST(LinalgGradients, OfDeterminantsAreCofactorsWhereTheMatrixIsSingular) {
  for (const Device device : cpu_and_cuda()) {
    const Tensor rank_two =
        tensor({1., 2., 3., 4., 5., 6., 7., 8., 9.}, kDouble).view({3, 3}).to(device);
    const Tensor x = rank_two.clone().requires_grad_();
    x.det().backward();
    expect_values(x.grad(), {-3, 6, -3, 6, -12, 6, -3, 6, -3}, 1e-9);
    const Tensor exact = tensor({1., 2., 2., 4.}, kDouble).view({2, 2}).to(device).requires_grad_();
    exact.det().backward();
    expect_values(exact.grad(), {4, -2, -2, 1}, 1e-9);
    const Tensor zero = zeros({2, 1, 1}, TensorOptions(kDouble).device(device)).requires_grad_();
    zero.det().sum().backward();
    expect_values(zero.grad(), {1, 1}, 1e-9);
  }
}

TEST(LinalgGradients, AreSymmetricForCholesky) {
  const Tensor x = definite(randn({3, 3}, kDouble)).requires_grad_();
  linalg_cholesky(x).sum().backward();
  EXPECT_TRUE(x.grad().equal(x.grad().mT()) ||
              (x.grad() - x.grad().mT()).abs().max().item<double>() < 1e-12);
}

TEST(LinalgGradients, ThatDoNotExistAreErrors) {
  const Tensor x = randn({3, 2}, requires_grad());
  expect_error<NotImplementedError>([&] { linalg_qr(x, "complete"); },
                                    "not differentiable when mode='complete'");
  expect_error<NotImplementedError>([&] { linalg_qr(x, "r"); },
                                    "The derivative of linalg.qr depends on Q");
}

}  // namespace
}  // namespace gradus
