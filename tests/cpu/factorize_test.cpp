// Linear algebra in a build without LAPACK.
#include "gradus/cpu/openblas.h"
#include "tests/support.h"

namespace gradus {
namespace {

TEST(CpuFactorize, SaysWhatItNeedsWhereThereIsNoLapack) {
  if (cpu::openblas_function("dpotrf_")) GTEST_SKIP() << "there is OpenBLAS";
  expect_error<NotImplementedError>(
      [] { linalg_cholesky(eye(2, kDouble)); },
      "linalg.cholesky: the CPU needs dpotrf_ of LAPACK, which is a part of OpenBLAS; "
      "install libopenblas-dev, and configure with -DGRADUS_BLAS=AUTO");
  expect_error<NotImplementedError>([] { randn({2, 2}).qr(); }, "linalg.qr: the CPU needs s");
  EXPECT_EQ(cpu::openblas_function("dgemm_"), nullptr);
}

}  // namespace
}  // namespace gradus
