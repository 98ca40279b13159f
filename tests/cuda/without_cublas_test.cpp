// A machine with a driver alone: products by the library's own kernels, and what says that cuBLAS
// is missing.
#include <dlfcn.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "gradus/cuda/ops/cublas.h"
#include "gradus/cuda/ops/matmul.h"
#include "gradus/gradus.h"
#include "tests/cuda/gpu_test.h"
#include "tests/support.h"

namespace gradus {
namespace {

constexpr const char* kHideCublas = "GRADUS_TEST_HIDES_CUBLAS";

// How many products differ from the CPU's.
int wrong_products() {
  set_float32_matmul_precision("high");  // TF32 is allowed, and cuBLAS alone has it
  int wrong = 0;
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble}) {
    const Tensor a = randn({300, 260}), b = randn({260, 280});
    const Tensor bias = randn({280});
    const auto product = [&](Device device, ScalarType type) {
      const auto given = [&](const Tensor& x) { return x.to(dtype).to(device, type); };
      return addmm(given(bias), given(a), given(b)).to(Device(kCPU), kDouble);
    };
    const double unit = dtype == kHalf ? 0x1p-11 : dtype == kBFloat16 ? 0x1p-8 : 1e-6;
    // Sums of 260 products are about 16; the result is rounded once.
    if (!allclose(product(kCUDA, dtype), product(kCPU, kDouble), unit, 16 * unit)) {
      ++wrong;
      std::cerr << dtype << '\n';
    }
  }
  return wrong;
}

// The child starts anew, since cuBLAS is looked for once.
TEST(WithoutCublasDeathTest, OurKernelsMultiplyAndTheOthersSayWhatIsMissing) {
#ifdef GRADUS_SIMULATED
  GTEST_SKIP() << "simulated devices have a cuBLAS of their own";
#endif
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv(kHideCublas, "1", 1);
  EXPECT_EXIT(
      {
        int wrong = wrong_products();
        if (cuda::has_cublas_lt()) std::cerr << "cuBLAS was found\n";
        const std::string said = message_of<Error>([] { cuda::set_matmul_kernel("cublas"); });
        if (!said.starts_with("matmul: the kernel 'cublas' needs libcublas.so.") ||
            said.find(", which cannot be loaded; install cuBLAS of CUDA ") == std::string::npos ||
            cuda::matmul_kernel() != "automatic") {
          ++wrong;
          std::cerr << said << '\n';
        }
        std::exit(wrong);
      },
      ::testing::ExitedWithCode(0), "^$");
  ::unsetenv(kHideCublas);
}

}  // namespace
}  // namespace gradus

// Comes before that of the C library.
extern "C" void* dlopen(const char* file, int flags) noexcept {
  if (std::getenv(gradus::kHideCublas) && file &&
      std::string_view(file).find("cublas") != std::string_view::npos)
    return nullptr;
  static const auto open = reinterpret_cast<decltype(&dlopen)>(dlsym(RTLD_NEXT, "dlopen"));
  return open(file, flags);
}
