// Known values, errors, shapes on meta, and the names of torch::linalg.
#include "gradus/autograd/linalg.h"

#include <cmath>
#include <thread>

#include "gradus/autograd/engine/node.h"
#include "gradus/cuda/runtime/stats.h"
#include "tests/cuda/gpu_test.h"
#include "tests/linalg/matrices.h"

namespace gradus {
namespace {

const auto* const lapack = ::testing::AddGlobalTestEnvironment(new test::NeedsLapack);

Tensor matrix(std::initializer_list<double> values, IntArrayRef sizes,
              const Device& device = kCPU) {
  return tensor(ArrayRef<double>(values), kDouble).view(sizes).to(device);
}

TEST(Linalg, KnowsSmallMatrices) {
  for (const Device& device : cpu_and_cuda()) {
    const Tensor a = matrix({4, 2, 2, 3}, {2, 2}, device);
    expect_values(linalg::cholesky(a), {2, 0, 1, std::sqrt(2.)}, 1e-14);
    expect_values(linalg::cholesky(a, true), {2, 1, 0, std::sqrt(2.)}, 1e-14);
    expect_values(linalg::inv(a), {0.375, -0.25, -0.25, 0.5}, 1e-14);
    expect_values(linalg::solve(a, matrix({8, 7}, {2}, device)), {1.25, 1.5}, 1e-14);
    expect_values(linalg::det(a), {8}, 1e-14);
    const auto [sign, size] = linalg::slogdet(matrix({0, 1, 1, 0}, {2, 2}, device));
    expect_values(sign, {-1});
    expect_values(size, {0});
    expect_values(matrix({0, 1, 1, 0}, {2, 2}, device).logdet(), {NAN});
    expect_values(linalg::eigvalsh(a), {(7 - std::sqrt(17.)) / 2, (7 + std::sqrt(17.)) / 2}, 1e-14);
    expect_values(linalg::svdvals(matrix({0, -3, 4, 0}, {2, 2}, device)), {4, 3}, 1e-14);
    expect_values(linalg::pinv(matrix({1, 1, 1, 1}, {2, 2}, device)), {.25, .25, .25, .25}, 1e-14);
    expect_values(linalg::matrix_rank(matrix({1, 1, 1, 1}, {2, 2}, device)), {1});
    expect_values(linalg::cond(matrix({2, 0, 0, 0.5}, {2, 2}, device)), {4}, 1e-14);
    expect_values(linalg::cond(matrix({1, 1, 1, 1}, {2, 2}, device), 1), {INFINITY});
    expect_values(linalg::cond(matrix({1, 1, 1, 1}, {2, 2}, device), "nuc"), {INFINITY});
    expect_values(linalg::matrix_exp(matrix({0, -M_PI / 2, M_PI / 2, 0}, {2, 2}, device)),
                  {0, -1, 1, 0}, 1e-14);
    expect_values(linalg::matrix_norm(matrix({0, -3, 4, 0}, {2, 2}, device), 2), {4}, 1e-14);
    expect_values(linalg::matrix_norm(matrix({0, -3, 4, 0}, {2, 2}, device), "nuc"), {7}, 1e-14);
    expect_values(linalg::norm(matrix({3, 4}, {2}, device)), {5}, 1e-14);
    const auto [lu, pivots] = linalg::lu_factor(matrix({1, 2, 4, 4}, {2, 2}, device));
    expect_values(lu, {4, 4, 0.25, 1});
    expect_values(pivots, {2, 2});
    const auto [x, residuals, rank, none] =
        linalg::lstsq(matrix({1, 1, 1, 2, 1, 3}, {3, 2}, device), matrix({1, 2, 2}, {3}, device),
                      std::nullopt, "gels");
    expect_values(x, {2. / 3, 0.5}, 1e-13);
    expect_values(residuals, {1. / 6}, 1e-13);
    EXPECT_EQ(linalg::tensorsolve(eye(4, a.options()).view({2, 2, 4}), a).sizes(),
              IntArrayRef({4}));
    EXPECT_EQ(linalg::tensorinv(eye(4, a.options()).view({4, 2, 2}), 1).sizes(),
              IntArrayRef({2, 2, 4}));
  }
}

TEST(Linalg, SaysWhichMatrixFailed) {
  for (const Device& device : cpu_and_cuda()) {
    const Tensor good = matrix({2, 1, 1, 2}, {2, 2}, device),
                 bad = matrix({1, 2, 2, 1}, {2, 2}, device);
    const Tensor singular = matrix({1, 2, 2, 4}, {2, 2}, device);
    const Tensor pair = stack({good, bad}), pair_singular = stack({good, good, singular});
    expect_error<LinAlgError>(
        [&] { linalg::cholesky(pair); },
        "linalg.cholesky: (Batch element 1): The factorization could not be completed because "
        "the input is not positive-definite (the leading minor of order 2 is not "
        "positive-definite)");
    expect_error<LinAlgError>([&] { bad.cholesky(); },
                              "cholesky: The factorization could not be completed");
    expect_error<LinAlgError>(
        [&] { linalg::inv(pair_singular); },
        "linalg.inv: (Batch element 2): The diagonal element 2 is zero, the inversion could not be "
        "completed because the input matrix is singular");
    expect_error<LinAlgError>(
        [&] { linalg::solve(singular, good); },
        "linalg.solve: The solver failed because the input matrix is singular");
    expect_error<LinAlgError>([&] { linalg::lu_factor(singular); }, "U[2,2] is zero");
    const auto [factor, info] = linalg::cholesky_ex(pair);
    expect_values(info, {0, 2});
    expect_values(factor.select(0, 0).select(1, 0), {std::sqrt(2.), std::sqrt(0.5)}, 1e-14);
    expect_values(std::get<1>(linalg::inv_ex(pair_singular)), {0, 0, 2});
    expect_values(std::get<1>(linalg::solve_ex(pair_singular, good)), {0, 0, 2});
    expect_error<LinAlgError>([&] { linalg::cholesky_ex(pair, false, true); }, "Batch element 1");
    expect_error<LinAlgError>([&] { linalg::inv_ex(singular, true); }, "The diagonal element 2");
    expect_values(linalg::det(pair_singular), {3, 3, 0});
    expect_values(std::get<1>(linalg::slogdet(singular)), {-INFINITY});
    if (device.is_cpu())
      expect_error<LinAlgError>(
          [&] {
            linalg::svd(matrix({NAN, 1, 1, 1}, {2, 2}, device));
          },
          "linalg.svd: The algorithm failed to converge");
  }
}

TEST(Linalg, RefusesWhatItCannotTake) {
  const Tensor a = randn({2, 3}), half = randn({2, 2}).to(kHalf), square = randn({2, 2});
  expect_error<ValueError>(
      [&] { linalg::cholesky(a); },
      "linalg.cholesky: A must be batches of square matrices, but they are 2 by 3 matrices");
  expect_error<ValueError>([&] { linalg::qr(randn({3})); },
                           "linalg.qr: The input tensor A must have at least 2 dimensions");
  expect_error<ValueError>([&] { linalg::qr(a, "full"); },
                           "linalg.qr: qr received unrecognized mode 'full'");
  expect_error<ValueError>([&] { linalg::eigh(square, "X"); },
                           "Expected UPLO argument to be 'L' or 'U', but got X");
  expect_error<ValueError>(
      [&] {
        linalg::solve(square, randn({3, 1}));
      },
      "linalg.solve: Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)");
  expect_error<ValueError>([&] { linalg::svd(a, true, "gesvd"); }, "only supported on CUDA inputs");
  expect_error<NotImplementedError>([&] { linalg::lu(a, false); },
                                    "LU without pivoting is not implemented");
  expect_error<TypeError>(
      [&] {
        linalg::solve(square, randn({2, 1}, kDouble));
      },
      "Expected A and B to have the same dtype, but found A of type Float and B of type Double "
      "instead");
  using Call = void (*)(const Tensor&);
  const std::vector<std::pair<const char*, Call>> calls = {
      {"linalg.cholesky", [](const Tensor& x) { linalg_cholesky(x); }},
      {"linalg.inv", [](const Tensor& x) { linalg_inv(x); }},
      {"linalg.solve", [](const Tensor& x) { linalg_solve(x, x); }},
      {"linalg.solve_triangular", [](const Tensor& x) { linalg_solve_triangular(x, x, true); }},
      {"linalg.det", [](const Tensor& x) { linalg_det(x); }},
      {"linalg.slogdet", [](const Tensor& x) { linalg_slogdet(x); }},
      {"linalg.lu", [](const Tensor& x) { linalg_lu(x); }},
      {"linalg.qr", [](const Tensor& x) { linalg_qr(x); }},
      {"linalg.eigh", [](const Tensor& x) { linalg_eigh(x); }},
      {"linalg.svd", [](const Tensor& x) { linalg_svd(x); }},
      {"linalg.pinv", [](const Tensor& x) { linalg_pinv(x); }},
      {"linalg.lstsq", [](const Tensor& x) { linalg_lstsq(x, x); }},
      {"linalg.matrix_rank", [](const Tensor& x) { linalg_matrix_rank(x); }},
      {"linalg.cond", [](const Tensor& x) { linalg_cond(x); }},
      {"linalg.matrix_exp", [](const Tensor& x) { linalg_matrix_exp(x); }}};
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    expect_error<TypeError>([&, f = call] { f(half); },
                            std::string(name) + ": Low precision dtypes not supported. Got Half");
    expect_error<TypeError>(
        [&, f = call] { f(half.to(kLong)); },
        std::string(name) + ": Expected a floating point or complex tensor as input. Got Long");
  }
}

TEST(Linalg, HasItsShapesOnMeta) {
  const TensorOptions meta = TensorOptions(kDouble).device(kMeta);
  const Tensor a = empty({2, 4, 3}, meta), s = empty({2, 3, 3}, meta), b = empty({3, 2}, meta);
  const auto expect = [](const Tensor& x, std::vector<int64_t> sizes) {
    EXPECT_TRUE(x.is_meta());
    EXPECT_EQ(x.sizes(), IntArrayRef(sizes));
  };
  expect(linalg::cholesky(s), {2, 3, 3}), expect(linalg::inv(s), {2, 3, 3});
  expect(linalg::solve(s, b), {2, 3, 2}), expect(linalg::det(s), {2});
  const auto [q, r] = linalg::qr(a);
  expect(q, {2, 4, 3}), expect(r, {2, 3, 3});
  const auto [u, values, vh] = linalg::svd(a);
  expect(u, {2, 4, 4}), expect(values, {2, 3}), expect(vh, {2, 3, 3});
  const auto [w, v] = linalg::eigh(s);
  expect(w, {2, 3}), expect(v, {2, 3, 3});
  const auto [p, l, upper] = linalg::lu(a);
  expect(p, {2, 4, 4}), expect(l, {2, 4, 3}), expect(upper, {2, 3, 3});
  expect(linalg::pinv(a), {2, 3, 4}), expect(linalg::matrix_exp(s), {2, 3, 3});
  expect(linalg::matrix_rank(a), {2}), expect(linalg::cond(a), {2});
  expect(std::get<0>(linalg::lstsq(a, empty({2, 4, 1}, meta))), {2, 3, 1});
}

TEST(Linalg, NamesItsNodesAsPyTorchDoes) {
  const Tensor x = (randn({3, 3}) + 4 * eye(3)).requires_grad_();
  const Tensor a = x.matmul(x.mT());
  const auto name = [](const Tensor& y) { return y.grad_fn()->name(); };
  EXPECT_EQ(name(linalg::cholesky(a)), "LinalgCholeskyExBackward0");
  EXPECT_EQ(name(linalg::solve(a, a)), "LinalgSolveExBackward0");
  EXPECT_EQ(name(linalg::inv(a)), "LinalgInvExBackward0");
  EXPECT_EQ(name(linalg::det(a)), "LinalgDetBackward0");
  EXPECT_EQ(name(std::get<0>(linalg::qr(a))), "LinalgQrBackward0");
  EXPECT_EQ(name(std::get<1>(linalg::eigh(a))), "LinalgEighBackward0");
  EXPECT_EQ(name(std::get<1>(linalg::svd(a))), "LinalgSvdBackward0");
}

using LinalgOnAGpu = GpuTest;
TEST_F(LinalgOnAGpu, ExFormsDoNotWait) {
  const Tensor a = eye(3, TensorOptions(kDouble).device(kCUDA)).expand({4, 3, 3});
  linalg::cholesky_ex(a), linalg::inv_ex(a), linalg::solve_ex(a, a), linalg::lu_factor_ex(a);
  cuda::synchronize();
  const int64_t before = cuda::stats().synchronizations;
  linalg::cholesky_ex(a), linalg::inv_ex(a), linalg::solve_ex(a, a), linalg::lu_factor_ex(a);
  EXPECT_EQ(cuda::stats().synchronizations, before);
}

// Many threads share OpenBLAS, and each gets what one gets alone.
TEST(Linalg, ComputesOnSeveralThreadsAtOnce) {
  const Tensor a = randn({200, 200}, kDouble) + 20 * eye(200, kDouble);
  const Tensor expected = linalg::inv(a);
  std::vector<std::thread> threads;
  std::vector<double> errors(4);
  for (size_t i = 0; i < errors.size(); ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 5; ++k)
        errors[i] = std::max(errors[i], (linalg::inv(a) - expected).abs().max().item<double>());
    });
  for (std::thread& thread : threads) thread.join();
  for (const double error : errors) EXPECT_LT(error, 1e-12);
}

// As PyTorch 2.15: the norm of an empty matrix is 0, but of orders below 0.
TEST(MatrixNorm, OfEmptyMatricesIsZero) {
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{0, 3}, {3, 0}, {0, 0}, {2, 0, 3}, {2, 0, 0}, {0, 2, 2}}) {
    const Tensor x = zeros(sizes, kDouble);
    const Tensor zero = x.sum({-2, -1});
    for (const double p : {1., 2., double{INFINITY}}) {
      EXPECT_TRUE(linalg_matrix_norm(x, p).equal(zero)) << IntArrayRef(sizes) << p;
      EXPECT_TRUE(linalg::norm(x, p, IntArrayRef{-2, -1}).equal(zero));
    }
    for (const char* name : {"fro", "nuc"})
      EXPECT_TRUE(linalg_matrix_norm(x, name).equal(zero)) << IntArrayRef(sizes) << name;
  }
  for (const double p : {-1., -2., -double{INFINITY}})
    EXPECT_THROW(linalg_matrix_norm(zeros({0, 0}), p), Error);
}

// LAPACK's iterations need not end there; PyTorch gives NaN. The other matrices of a batch have
// their values.
TEST(Svd, OfInfiniteNumbersIsNaN) {
  for (const ScalarType dtype : {kDouble, kFloat})
    for (const double bad : {double{INFINITY}, -double{INFINITY}})
      for (const int64_t place : {0, 1, 11}) {
        const Tensor good = arange(12, dtype).view({3, 4}), x = stack({good, good});
        x.view({-1})[place].fill_(bad);
        const auto [u, values, vh] = linalg_svd(x, false);
        EXPECT_TRUE(values[0].isnan().all().item<bool>());
        EXPECT_TRUE(u[0].isnan().all().item<bool>() && vh[0].isnan().all().item<bool>());
        EXPECT_TRUE(allclose(values[1], linalg_svdvals(good)));
        EXPECT_TRUE(linalg_svdvals(x)[0].isnan().all().item<bool>());
        EXPECT_TRUE(linalg_pinv(x[0], 1e-15).isnan().all().item<bool>());
        EXPECT_TRUE(std::isnan(linalg_matrix_norm(x[0], "nuc").item<double>()));
      }
}

// Libraries of GPUs may take NaN for 0. The other matrices of a batch have their results.
TEST(Linalg, NoFunctionHidesNaN) {
  struct Case {
    const char* name;
    std::vector<Tensor> (*f)(const Tensor& a);
    int info = -1;  // the place of a result that may tell of it instead
  };
  const auto list = [](const auto& results) {
    return std::apply([](const auto&... each) { return std::vector<Tensor>{each...}; }, results);
  };
  static const auto to_list = list;
  const std::vector<Case> cases{
      {"cholesky_ex", [](const Tensor& a) { return to_list(linalg::cholesky_ex(a)); }, 1},
      {"lu_factor_ex", [](const Tensor& a) { return to_list(linalg::lu_factor_ex(a)); }, 2},
      {"inv_ex", [](const Tensor& a) { return to_list(linalg::inv_ex(a)); }, 1},
      {"solve_ex",
       [](const Tensor& a) {
         return to_list(linalg::solve_ex(a, ones({a.size(0), a.size(1), 1}, a.options())));
       },
       1},
      {"lu", [](const Tensor& a) { return to_list(linalg::lu(a)); }},
      {"det", [](const Tensor& a) { return std::vector<Tensor>{linalg::det(a)}; }},
      {"slogdet", [](const Tensor& a) { return to_list(linalg::slogdet(a)); }},
      {"qr", [](const Tensor& a) { return to_list(linalg::qr(a)); }}};
  for (const DeviceType type : {kCPU, kCUDA})
    for (const ScalarType dtype : {kFloat, kDouble})
      for (const int64_t n : {2, 3, 40})
        for (const int64_t batch : {1, 3})
          for (const int64_t place : {int64_t{0}, n, n * n - 1})  // of one triangle, too
            for (const Case& c : cases) {
              if (type == kCUDA && !cuda::is_available()) continue;
              SCOPED_TRACE(testing::Message()
                           << c.name << " of " << n << ", " << batch << " matrices, NaN at "
                           << place << ", " << dtype << ", device " << static_cast<int>(type));
              Tensor a =
                  stack(std::vector<Tensor>(static_cast<size_t>(batch), eye(n, dtype) * 3 + 1));
              const Tensor good = a.clone();
              a.view({batch, n * n})[batch - 1][place].fill_(NAN);
              const std::vector<Tensor> results = c.f(a.to(type)), expected = c.f(good);
              bool told = false;
              for (size_t i = 0; i < results.size(); ++i) {
                const Tensor here = results[i].cpu();
                if (static_cast<int>(i) == c.info)
                  told |= here[batch - 1].item<int>() != 0;
                else if (here.is_floating_point())
                  told |= here[batch - 1].isnan().any().item<bool>();
                if (batch > 1) {
                  EXPECT_TRUE(
                      allclose(here[0].to(kDouble), expected[i][0].to(kDouble), 1e-4, 1e-5));
                }
              }
              EXPECT_TRUE(told);
            }
}

// The LU of cuSOLVER may make finite factors of it.
TEST(Linalg, FactorsOfNaNAreNaNOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  for (const ScalarType dtype : {kFloat, kDouble}) {
    const Tensor a = (eye(4, dtype) * 3 + 1).to(kCUDA), all = stack({a, a.clone(), a});
    all[1][3][0].fill_(NAN);
    const auto [lu, pivots, info] = linalg::lu_factor_ex(all);
    EXPECT_TRUE(lu[1].isnan().all().item<bool>());
    EXPECT_TRUE(lu[0].isfinite().all().item<bool>());
    EXPECT_TRUE(equal(lu[0], lu[2]));
    EXPECT_TRUE(std::isnan(linalg::det(all[1]).item<double>()));
  }
}

}  // namespace
}  // namespace gradus
