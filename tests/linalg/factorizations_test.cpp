// Every factorization by LAPACK's ratios, on all kinds of matrices, in both types, on every device.
#include "tests/linalg/matrices.h"

namespace gradus {
namespace {

using test::each_matrix;
using test::orthogonality;
using test::ratio;
using test::wide;

ScalarType type_of(const Tensor& x) { return x.scalar_type(); }

TEST(Factorizations, QrIsReducedCompleteOrR) {
  each_matrix([](const Tensor& a, const std::string&) {
    const int64_t m = a.size(-2), n = a.size(-1);
    for (const bool complete : {false, true}) {
      const auto [q, r] = linalg_qr(a, complete ? "complete" : "reduced");
      const int64_t k = complete ? m : std::min(m, n);
      ASSERT_EQ(q.size(-1), k);
      ASSERT_EQ(r.size(-2), k);
      EXPECT_RATIO(wide(q).matmul(wide(r)) - wide(a), wide(a), type_of(a));
      EXPECT_LT(orthogonality(wide(q), type_of(a)), 30);
      EXPECT_TRUE(r.triu().equal(r));
    }
    EXPECT_TRUE(std::get<1>(linalg_qr(a, "r")).equal(std::get<1>(linalg_qr(a))));
    EXPECT_EQ(std::get<0>(linalg_qr(a, "r")).numel(), 0);
    EXPECT_TRUE(std::get<0>(a.qr(false)).equal(std::get<0>(linalg_qr(a, "complete"))));
  });
}

// Matrices of up to 16 rows are factored without LAPACK: their squares and inverses stay in range.
TEST(Factorizations, TakeSmallMatricesOfAnyMagnitude) {
  manual_seed(3);
  for (const int64_t n : {2, 7, 12, 16})
    for (const double scale : {1e-44, 1e-38, 1e-30, 1.0, 1e30, 1e37}) {
      SCOPED_TRACE(std::to_string(n) + " times " + std::to_string(std::log10(scale)));
      const Tensor x = randn({3, n, n}, kDouble), a = (x * scale).to(kFloat);
      const auto [q, r] = linalg_qr(a);
      EXPECT_LT(orthogonality(wide(q), kFloat), 30);
      // What denormal numbers lose is no more than a few of them.
      const double lost = 1e-45 * static_cast<double>(4 * n * n) / scale;
      const auto close = [&](const Tensor& product) {
        return (product / scale - wide(a) / scale).abs().max().item<double>() < 1e-5 + lost;
      };
      EXPECT_TRUE(close(wide(q).matmul(wide(r))));
      const auto [p, l, u] = linalg_lu(a);
      EXPECT_LE(wide(l).abs().max().item<double>(), 1);
      EXPECT_TRUE(close(wide(p).matmul(wide(l)).matmul(wide(u))));
      const Tensor positive =
          ((x.matmul(x.mT()) / static_cast<double>(n) + eye(n, kDouble)) * scale).to(kFloat);
      const Tensor root = wide(linalg_cholesky(positive));
      EXPECT_LT(((root.matmul(root.mT()) - wide(positive)) / scale).abs().max().item<double>(),
                1e-4 + lost);
    }
}

TEST(Factorizations, LuHasItsRowsExchanged) {
  each_matrix([](const Tensor& a, const std::string&) {
    const auto [p, l, u] = linalg_lu(a);
    EXPECT_RATIO(wide(p).matmul(wide(l)).matmul(wide(u)) - wide(a), wide(a), type_of(a));
    EXPECT_TRUE(l.tril().equal(l));
    EXPECT_TRUE(u.triu().equal(u));
    if (l.numel() > 0) {
      EXPECT_LE(wide(l).abs().max().item<double>(), 1);
    }
    const auto [lu, pivots, info] = linalg_lu_factor_ex(a);
    EXPECT_EQ(pivots.dtype(), kInt);
    EXPECT_EQ(info.dtype(), kInt);
    const auto [p2, l2, u2] = lu_unpack(lu, pivots);
    EXPECT_TRUE(p2.equal(p));
    EXPECT_TRUE(l2.equal(l));
    EXPECT_TRUE(u2.equal(u));
  });
}

TEST(Factorizations, SvdIsReducedOrFull) {
  each_matrix([](const Tensor& a, const std::string&) {
    const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
    for (const bool full : {false, true}) {
      const auto [u, s, vh] = linalg_svd(a, full);
      ASSERT_EQ(u.size(-1), full ? m : k);
      ASSERT_EQ(vh.size(-2), full ? n : k);
      const Tensor product =
          wide(u).narrow(-1, 0, k).matmul(wide(s).unsqueeze(-1) * wide(vh).narrow(-2, 0, k));
      EXPECT_RATIO(product - wide(a), wide(a), type_of(a));
      EXPECT_LT(orthogonality(wide(u), type_of(a)), 30);
      EXPECT_LT(orthogonality(wide(vh).mT(), type_of(a)), 30);
      if (k > 1) {
        EXPECT_TRUE((s.diff() <= 0).all().item<bool>()) << s;
      }
      if (s.numel() > 0) {
        EXPECT_TRUE((s >= 0).all().item<bool>()) << s;
      }
      const Tensor alone = linalg_svdvals(a);
      EXPECT_RATIO((wide(alone) - wide(s)).unsqueeze(-2), wide(a), type_of(a));
    }
    const auto [u, s, v] = a.svd();
    EXPECT_TRUE(v.mT().equal(std::get<2>(linalg_svd(a, false))));
    const auto [u0, s0, v0] = a.svd(true, false);
    EXPECT_EQ(u0.size(-1), m);
    EXPECT_EQ(v0.size(-2), n);
  });
}

TEST(Factorizations, EighIsOfOneTriangle) {
  each_matrix(
      [](const Tensor& a, const std::string&) {
        for (const char* triangle : {"L", "U"}) {
          const bool lower = *triangle == 'L';
          const Tensor full = lower ? a.tril() + a.tril(-1).mT() : a.triu() + a.triu(1).mT();
          const auto [values, vectors] = linalg_eigh(a, triangle);
          EXPECT_RATIO(
              wide(full).matmul(wide(vectors)) - wide(vectors) * wide(values).unsqueeze(-2),
              wide(full), type_of(a));
          EXPECT_LT(orthogonality(wide(vectors), type_of(a)), 30);
          if (a.size(-1) > 1) {
            EXPECT_TRUE((values.diff() >= 0).all().item<bool>()) << values;
          }
          const Tensor alone = linalg_eigvalsh(a, triangle);
          EXPECT_RATIO((wide(alone) - wide(values)).unsqueeze(-2), wide(full), type_of(a));
        }
      },
      /*square=*/true);
}

TEST(Factorizations, CholeskyIsOfOneTriangle) {
  each_matrix(
      [](const Tensor& x, const std::string&) {
        const int64_t n = x.size(-1);
        const Tensor a = x.matmul(x.mT()) + eye(n, x.options()) * static_cast<double>(n + 1);
        for (const bool upper : {false, true}) {
          const Tensor noise = full_like(a, 9);  // is not read
          const Tensor seen = upper ? a.triu() + noise.tril(-1) : a.tril() + noise.triu(1);
          const Tensor factor = linalg_cholesky(seen, upper);
          const Tensor l = wide(upper ? factor.mT() : factor);
          EXPECT_TRUE(l.tril().equal(l));
          EXPECT_RATIO(l.matmul(l.mT()) - wide(a), wide(a), type_of(a));
          EXPECT_TRUE(a.cholesky(upper).equal(linalg_cholesky(a, upper)));
        }
      },
      /*square=*/true);
}

// |b - A x| / (|A| |x| n epsilon), where x or b has vectors for all matrices of a.
void expect_solution(const Tensor& a, const Tensor& x, const Tensor& b) {
  EXPECT_EQ(x.size(-2), a.size(-1));
  if (a.numel() == 0) return;
  const Tensor size = wide(a).abs().sum(-2).amax(-1).unsqueeze(-1).unsqueeze(-1);
  EXPECT_RATIO(wide(a).matmul(wide(x)) - wide(b), size * wide(x), type_of(a));
}

TEST(Factorizations, SolveEquations) {
  each_matrix(
      [](const Tensor& x, const std::string& name) {
        const int64_t n = x.size(-1);
        const bool as_it_is = name == "Hilbert's" || name == "graded";
        const Tensor a = as_it_is ? x : x + 3 * eye(n, x.options()), b = randn({n, 3}, x.options());
        const auto [y, info] = linalg_solve_ex(a, b);
        // Singular to this type, or without rows, where (batch, 0) is a batch of vectors.
        if (n == 0 || (info != 0).any().item<bool>()) return;
        expect_solution(a, y, b);
        expect_solution(a.mT(), linalg_solve(a, b.mT(), false).mT(), b);
        const auto [lu, pivots] = linalg_lu_factor(a);
        EXPECT_TRUE(linalg_lu_solve(lu, pivots, b).equal(y));
        EXPECT_TRUE(lu_solve(b, lu, pivots).equal(y));
        expect_solution(a.mT(), linalg_lu_solve(lu, pivots, b, true, true), b);
        expect_solution(a.mT(), linalg_lu_solve(lu, pivots, b.mT(), false).mT(), b);
        for (const bool upper : {false, true}) {
          const Tensor triangle = upper ? a.triu() : a.tril();
          const Tensor z = linalg_solve_triangular(a, b, upper);
          if (!z.isfinite().all().item<bool>()) continue;  // random triangles grow so
          expect_solution(triangle, z, b);
          EXPECT_TRUE(std::get<0>(triangular_solve(b, a, upper)).equal(z));
          expect_solution(triangle.mT(), std::get<0>(triangular_solve(b, a, upper, true)), b);
          const Tensor unit = (upper ? a.triu(1) : a.tril(-1)) + eye(n, x.options());
          expect_solution(unit.mT(), linalg_solve_triangular(a, b.mT(), upper, false, true).mT(),
                          b);
        }
      },
      /*square=*/true);
}

TEST(Factorizations, InvertMatrices) {
  each_matrix(
      [](const Tensor& x, const std::string& name) {
        if (name == "graded" || name == "Hilbert's") return;
        const int64_t n = x.size(-1);
        const Tensor a = x + 3 * static_cast<double>(n) * eye(n, x.options());
        const Tensor y = linalg_inv(a), one = eye(n, kDouble).expand_as(wide(a));
        EXPECT_RATIO(wide(a).matmul(wide(y)) - one, one, type_of(a));
        EXPECT_TRUE(a.inverse().equal(y));
        const Tensor square = a.matmul(a);
        EXPECT_RATIO(wide(square).matmul(wide(matrix_power(a, -2))) - one, one, type_of(a));
        const auto [sign, size] = a.slogdet();
        const Tensor product =
            wide(linalg_eigvalsh(a.matmul(a.mT()))).clamp_min(0).log().sum(-1) / 2;
        expect_values(size, to_vector(product), type_of(a) == kFloat ? 1e-4 : 1e-10);
        if (n <= 8)
          expect_values(a.det().log(), to_vector(size), type_of(a) == kFloat ? 1e-4 : 1e-10);
        expect_values(a.logdet(), to_vector(size), 1e-6);
      },
      /*square=*/true);
}

TEST(Factorizations, PseudoinversesHavePenrosesFourProperties) {
  each_matrix([](const Tensor& a, const std::string& name) {
    if (name == "Hilbert's" || name == "graded") return;  // what counts as 0 decides there
    const Tensor p = linalg_pinv(a, 1e-4), x = wide(a), y = wide(p);
    const double tolerance = type_of(a) == kFloat ? 1e-3 : 1e-9;
    ASSERT_EQ(y.size(-2), a.size(-1));
    expect_values(x.matmul(y).matmul(x), to_vector(x), tolerance);
    expect_values(y.matmul(x).matmul(y), to_vector(y), tolerance);
    expect_values(x.matmul(y).mT(), to_vector(x.matmul(y)), tolerance);
    expect_values(y.matmul(x).mT(), to_vector(y.matmul(x)), tolerance);
    const int64_t least = std::min(a.size(-2), a.size(-1));
    const int64_t rank = name == "zero"        ? 0
                         : name == "of rank 1" ? std::min<int64_t>(1, least)
                                               : least;
    const Tensor ranks = linalg_matrix_rank(a);
    EXPECT_EQ(ranks.dtype(), kLong);
    EXPECT_TRUE((ranks == rank).all().item<bool>()) << ranks;
  });
}

TEST(Factorizations, LeastSquaresAreOrthogonalToTheColumns) {
  each_matrix([](const Tensor& a, const std::string& name) {
    if (a.dim() != 2 || a.numel() == 0 || name == "Hilbert's" || name == "graded") return;
    const double tolerance = type_of(a) == kFloat ? 1e-3 : 1e-9;
    const Tensor b = randn({a.size(0), 2}, a.options());
    const bool full_rank = name != "zero" && name != "of rank 1";
    for (const std::string driver : {"gels", "gelsy", "gelsd"}) {
      if (driver == "gels" && !full_rank) continue;
      const auto [x, residuals, rank, none] = linalg_lstsq(a, b, 1e-4, driver);
      const Tensor rest = wide(a).matmul(wide(x)) - wide(b);
      EXPECT_LT(wide(a).mT().matmul(rest).abs().max().item<double>(), tolerance * 40) << driver;
      expect_values(x, to_vector(linalg_pinv(a, 1e-4).matmul(b)), tolerance);
      if (residuals.numel() > 0)
        expect_values(residuals, to_vector(rest.square().sum(-2)), tolerance);
      const bool known = driver == "gels" || rank.item<int64_t>() == a.size(1);
      EXPECT_EQ(residuals.numel() > 0, a.size(0) > a.size(1) && driver != "gelsy" && known);
    }
  });
}

TEST(Factorizations, ExponentialsAreThoseOfTheEigenvalues) {
  each_matrix(
      [](const Tensor& x, const std::string&) {
        const Tensor a = x + x.mT();
        const auto [values, vectors] = linalg_eigh(wide(a));
        const Tensor expected = vectors.matmul(values.exp().unsqueeze(-1) * vectors.mT());
        const Tensor got = a.matrix_exp();
        if (a.numel() == 0) return;
        // The relative condition of the exponential is |A|.
        const double condition = std::max(1.0, wide(a).abs().sum(-2).max().item<double>());
        EXPECT_LT(ratio(wide(got) - expected, expected, type_of(a)), 30 * condition);
      },
      /*square=*/true);
}

}  // namespace
}  // namespace gradus
