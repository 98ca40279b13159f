// Gradients of factorizations and norms at every magnitude: of functions that grow as their
// argument does, so that the gradient at c * x is that at x.
#include "tests/linalg/matrices.h"

namespace gradus {
namespace {

struct Homogeneous {
  const char* name;
  Tensor (*f)(const Tensor& x);  // f(c * x) is c * f(x)
  bool square = false;           // takes square matrices alone
  double most = 200;             // the exponent of 10 that its own steps reach
};
// Norms of squares and cubes are PyTorch's sums of them, which leave the dtype's range beyond.
constexpr double kSquares = 100, kCubes = 20;

Tensor half_of(const Tensor& x) { return (x + x.mT()) / 2; }
// Different weights, so that the elements of a result count differently.
Tensor weighted(const Tensor& y) {
  return (y * arange(1, y.numel() + 1, y.options()).view(y.sizes())).sum();
}
// Definite, and as large as x.
Tensor definite_as(const Tensor& x) {
  return half_of(x) + 4 * x.detach().abs().max() * eye(x.size(-1), x.options());
}

const Homogeneous homogeneous[] = {
    {"svd",
     [](const Tensor& x) {
       const auto [u, s, vh] = linalg::svd(x, false);
       return weighted(matmul(u * s.unsqueeze(-2), vh));
     }},
    {"svdvals", [](const Tensor& x) { return weighted(linalg_svdvals(x)); }},
    {"qr",
     [](const Tensor& x) {
       const auto [q, r] = linalg_qr(x);
       return weighted(matmul(q, r)) + weighted(r.abs());
     }},
    {"eigh",
     [](const Tensor& x) {
       const auto [w, v] = linalg_eigh(half_of(x));
       return weighted(matmul(v * w.unsqueeze(-2), v.mT())) + weighted(w);
     },
     true},
    {"eigvalsh", [](const Tensor& x) { return weighted(linalg_eigvalsh(half_of(x))); }, true},
    {"eigh as vectors",
     [](const Tensor& x) {
       const Tensor v = std::get<1>(linalg_eigh(half_of(x)));
       return weighted(matmul(v.square(), x.diagonal()));
     },
     true},
    {"cholesky",
     [](const Tensor& x) {
       const Tensor l = linalg_cholesky(definite_as(x));
       return weighted(matmul(l, l.mT()));
     },
     true},
    {"lu_factor", [](const Tensor& x) { return weighted(std::get<0>(linalg_lu_factor(x)).triu()); },
     true},
    {"solve",
     [](const Tensor& x) { return weighted(linalg_solve(definite_as(x).detach(), x * 2) * x); },
     true},
    {"vector_norm 2", [](const Tensor& x) { return linalg_vector_norm(x); }, false, kSquares},
    {"vector_norm 1", [](const Tensor& x) { return linalg_vector_norm(x, 1); }},
    {"vector_norm 3", [](const Tensor& x) { return linalg_vector_norm(x, 3); }, false, kCubes},
    {"vector_norm 0.5", [](const Tensor& x) { return linalg_vector_norm(x, 0.5); }},
    {"vector_norm -1", [](const Tensor& x) { return linalg_vector_norm(x, -1); }, false, kSquares},
    {"vector_norm inf", [](const Tensor& x) { return linalg_vector_norm(x, INFINITY); }},
    {"vector_norm by rows", [](const Tensor& x) { return weighted(linalg_vector_norm(x, 2, 1)); },
     false, kSquares},
    {"norm", [](const Tensor& x) { return x.norm(); }, false, kSquares},
    {"matrix_norm fro", [](const Tensor& x) { return linalg_matrix_norm(x, "fro"); }, false,
     kSquares},
    {"matrix_norm nuc", [](const Tensor& x) { return linalg_matrix_norm(x, "nuc"); }},
    {"matrix_norm 2", [](const Tensor& x) { return linalg_matrix_norm(x, 2); }},
    {"matrix_norm -2", [](const Tensor& x) { return linalg_matrix_norm(x, -2); }},
    {"matrix_norm 1", [](const Tensor& x) { return linalg_matrix_norm(x, 1); }},
    {"dist", [](const Tensor& x) { return dist(x, x.flip({0}).detach()); }, false, kSquares},
    {"hypot", [](const Tensor& x) { return weighted(hypot(x, x.flip({1}).detach())); }},
    {"cdist", [](const Tensor& x) { return weighted(cdist(x, x.flip({1}).detach())); }, false,
     kSquares},
    {"std", [](const Tensor& x) { return weighted(x.std(1)); }, false, kSquares},
};

TEST(Magnitudes, LeaveGradientsAsTheyAre) {
  for (const Homogeneous& each : homogeneous)
    for (const ScalarType dtype : {kDouble, kFloat})
      for (const std::vector<int64_t>& sizes :
           std::vector<std::vector<int64_t>>{{2, 2}, {3, 3}, {3, 2}, {2, 3}}) {
        if (each.square && sizes[0] != sizes[1]) continue;
        manual_seed(2);
        const Tensor values = randn(sizes, dtype);
        const auto gradient_at = [&](double scale) {
          const Tensor x = (values * scale).requires_grad_();
          each.f(x).backward();
          return x.grad();
        };
        const std::vector<double> expected = to_vector(gradient_at(1));
        for (const double exponent : {-200., -100., -20., 20., 100., 200.}) {
          if (std::abs(exponent) > each.most) continue;
          SCOPED_TRACE(testing::Message()
                       << each.name << ", " << sizes[0] << " x " << sizes[1] << ", "
                       << (dtype == kDouble ? "double" : "float") << ", 10 to the " << exponent);
          expect_values(gradient_at(std::pow(10., dtype == kDouble ? exponent : exponent / 8)),
                        expected, dtype == kDouble ? 1e-10 : 1e-4);
        }
      }
}

}  // namespace
}  // namespace gradus
