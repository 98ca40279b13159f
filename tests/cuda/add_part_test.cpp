// cuda::add_part adds parts of gradients and divides them.
#include "gradus/cuda/ops/add_part.h"

#include "gradus/gradus.h"
#include "tests/cuda/gpu_test.h"
#include "tests/random.h"

namespace gradus {
namespace {

class CudaAddPart : public GpuTest {};

TEST_F(CudaAddPart, AddsAndDivides) {
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const int64_t n :
         {int64_t{0}, int64_t{1}, int64_t{7}, test::pick(8, 5000), int64_t{300000}})
      for (const double divisor : {1.0, 3.0}) {
        const Tensor sum = randn({n}, dtype), part = randn({n}, dtype);
        const Tensor there = sum.to(kCUDA), added = part.to(kCUDA);
        cuda::add_part(there.data_ptr(), added.data_ptr(), n, dtype, divisor,
                       cuda::getCurrentCUDAStream());
        EXPECT_TRUE(equal(there.cpu(), (sum + part) / divisor)) << n << dtype << divisor;
      }
}

}  // namespace
}  // namespace gradus
