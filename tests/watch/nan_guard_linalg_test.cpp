// NanGuard and factorizations of matrices: what they make of finite numbers is found, and what info
// tells of is left to it.
#include "gradus/watch/guard/nan_guard.h"

#include "tests/cuda/gpu_test.h"
#include "tests/support.h"
#include "tests/watch/guarded.h"

namespace guarded {

class NanGuardOfMatrices : public OnEachDevice {
 protected:
  Tensor matrix(std::vector<double> values, int64_t columns, ScalarType dtype = kFloat) const {
    return row(std::move(values), device(), dtype).view({-1, columns});
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, NanGuardOfMatrices, testing::Values(kCPU, kCUDA),
                         name_of_guarded);

struct MatrixCase {
  const char* name;
  const char* operation;
  std::vector<double> numbers;  // of two columns
  Tensor (*f)(const Tensor&);
  std::vector<int64_t> first;  // a place among the results; empty where libraries differ
  bool lapack = false;         // cuSOLVER may say by info that it fails
};

// Results that float32 does not hold. LAPACK scales what lies between.
const std::vector<MatrixCase> overflows{
    {"lu",
     "linalg.lu",
     {1, 3e38, -1, 3e38},
     [](const Tensor& a) { return std::get<0>(linalg::lu_factor_ex(a)); },
     {1, 1}},
    {"solve",
     "linalg.lu_solve",
     {1, 0, 0, 1e-20},
     [](const Tensor& a) {
       return linalg::solve(a, full({2, 1}, 1e30, a.options()));
     },
     {}},
    {"inv",
     "linalg.lu_solve",
     {1, 0, 0, 1e-39},
     [](const Tensor& a) { return linalg::inv(a); },
     {}},
    {"solve_triangular",
     "linalg.solve_triangular",
     {1, 0, 5, 0},
     [](const Tensor& a) {
       return linalg::solve_triangular(a, ones({2, 1}, a.options()), /*upper=*/false);
     },
     {1, 0}},
    {"lu_solve",
     "linalg.lu_solve",
     {1, 2, 2, 4},
     [](const Tensor& a) {
       const auto [lu, pivots, info] = linalg::lu_factor_ex(a);
       return linalg::lu_solve(lu, pivots, full({2, 1}, 3.0, a.options()));
     },
     {}},
    {"qr",
     "linalg.qr",
     {3e38, 1, 3e38, 2},
     [](const Tensor& a) { return std::get<1>(linalg::qr(a)); },
     {}},
    {"eigvalsh",
     "linalg.eigh",
     {3e38, 3e38, 3e38, 3e38},
     [](const Tensor& a) { return linalg::eigvalsh(a); },
     {},
     true},
    {"svdvals",
     "linalg.svd",
     {3e38, 3e38, 3e38, 3e38},
     [](const Tensor& a) { return linalg::svdvals(a); },
     {},
     true}};

TEST_P(NanGuardOfMatrices, FindsWhatFactorizationsMake) {
  for (const MatrixCase& c : overflows) {
    if (c.lapack && device().is_cuda() && !kSimulated) continue;
    SCOPED_TRACE(c.name);
    const Tensor a = matrix(c.numbers, 2);
    const NanReport report = report_of([&] { c.f(a); });
    EXPECT_EQ(report.operation, c.operation);
    EXPECT_TRUE(report.made) << report.message;
    EXPECT_GT(report.nans + report.infinities, 0);
    if (!c.first.empty()) {
      EXPECT_EQ(report.first, c.first) << report.message;
    }
    expect_silence("finite", [&] { c.f(eye(2, a.options()) * 3 + 1); });
  }
}

TEST_P(NanGuardOfMatrices, NamesTheInputThatHasIt) {
  const Tensor a = matrix({4, 1, 1, 3}, 2), b = matrix({1, nan}, 1);
  const NanReport report = report_of([&] { linalg::solve(a, b); });
  EXPECT_EQ(report.operation, "linalg.lu_solve");
  EXPECT_FALSE(report.made);
  for (const ScalarType dtype : {kFloat, kDouble}) {
    const Tensor bad = matrix({nan, 1, 1, 3}, 2, dtype);
    EXPECT_FALSE(report_of([&] { linalg::qr(bad); }).made);
    // cuSOLVER may tell of it by info.
    if (std::get<2>(linalg::lu_factor_ex(bad)).item<int>() == 0) {
      EXPECT_FALSE(report_of([&] { linalg::lu_factor_ex(bad); }).made);
    }
  }
}

TEST_P(NanGuardOfMatrices, LeavesToInfoWhatItTells) {
  const Tensor singular = matrix({1, 2, 2, 4}, 2),
               mixed = stack({eye(2, singular.options()), singular});
  const Tensor negative = matrix({-1, 0, 0, 1}, 2), b = ones({2, 1}, singular.options());
  expect_silence("info is handed out", [&] {
    linalg::cholesky_ex(negative);
    linalg::lu_factor_ex(singular);
    linalg::solve_ex(singular, b);
    linalg::inv_ex(mixed);
    linalg::cond(mixed, 1);
    linalg::det(mixed);
  });
  const NanGuard guard;
  EXPECT_THROW(linalg::cholesky(negative), LinAlgError);
  EXPECT_THROW(linalg::solve(singular, b), LinAlgError);
  EXPECT_THROW(linalg::inv(mixed), LinAlgError);
}

// Of a batch, what other matrices of it make is found.
TEST_P(NanGuardOfMatrices, LooksAtEachMatrixOfABatch) {
  const Tensor all = stack({matrix({1, 2, 2, 4}, 2), matrix({1, 0, 0, 1e-39}, 2)});
  const NanReport report = report_of([&] { linalg::inv_ex(all); });
  EXPECT_TRUE(report.made);
  EXPECT_EQ(report.first[0], 1) << report.message;
}

TEST_P(NanGuardOfMatrices, ReadsOneTriangleAsTheyDo) {
  const Tensor lower = matrix({4, nan, 1, 3}, 2), upper = lower.mT();
  expect_silence("the other triangle", [&] {
    linalg::cholesky(lower);
    linalg::cholesky(upper, /*upper=*/true);
    linalg::eigvalsh(lower);
    linalg::solve_triangular(lower, ones({2, 1}, lower.options()), /*upper=*/false);
  });
}

}  // namespace guarded
