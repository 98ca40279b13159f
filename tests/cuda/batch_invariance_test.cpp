// Kernels of a GPU that are chosen by name, where bits may not depend on the batch. What rows give:
// tests/nn/batch_invariance_test.cpp.
#include "gradus/cuda/ops/convolution.h"
#include "gradus/cuda/ops/matmul.h"
#include "tests/cuda/gpu_test.h"
#include "tests/invariantly.h"
#include "tests/support.h"

namespace gradus {
namespace {

using BatchInvariantKernels = GpuTest;

TEST_F(BatchInvariantKernels, ThoseWhoseSumsDependOnTheBatchAreRefused) {
  const Invariantly on;
  const std::string order = " in an order that depends on the batch, which setBatchInvariant(true)";
  for (const std::string name : {"cublas", "wgmma"}) {
    cuda::set_matmul_kernel(name);
    for (const ScalarType dtype : {kFloat, kHalf})
      expect_error<NotImplementedError>(
          [&] {
            mm(ones({2, 3}).to(kCUDA, dtype), ones({3, 4}).to(kCUDA, dtype));
          },
          "matmul: the kernel '" + name + "' adds" + order);
  }
  cuda::set_matmul_kernel("automatic");
  const Tensor image = ones({1, 1, 3, 3}, kCUDA);
  cuda::set_convolution_kernel("wgmma");
  expect_error<NotImplementedError>([&] { conv2d(image, image); },
                                    "convolution: the kernel 'wgmma' may add" + order);
  cuda::set_convolution_kernel("automatic");
}

// Other rungs of the ladder are taken by name, and give each row the same bits.
TEST_F(BatchInvariantKernels, OtherRungsAreTaken) {
  const Invariantly on;
  const Tensor x = randn({5, 40}).to(kCUDA), w = randn({40, 6}).to(kCUDA);
  for (const std::string name : {"naive", "tiled", "vectorized"}) {
    cuda::set_matmul_kernel(name);
    EXPECT_TRUE(equal(mm(x.narrow(0, 3, 1), w), mm(x, w).narrow(0, 3, 1))) << name;
  }
  cuda::set_matmul_kernel("automatic");
}

}  // namespace
}  // namespace gradus
