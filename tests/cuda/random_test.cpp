#include "tests/cuda/compare.h"

namespace gradus {
namespace {

class CudaRandom : public GpuTest {};

// Draws the same elements on both devices, into memory that starts at an odd element.
void compare(Distribution kind, double a, double b, ScalarType dtype, double tolerance) {
  for (const int64_t n : {int64_t{1}, int64_t{2}, int64_t{511}, int64_t{512}, pick(513, 9999)}) {
    const PhiloxState state{rng()(), rng()() >> 1};
    const Pair out = random_pair(dtype, contiguous_layout("", {n}, pick(0, 3)));
    cpu_backend().random(kind, a, b, state, out.cpu);
    cuda_backend().random(kind, a, b, state, out.gpu);
    expect_close(out.gpu_all, out.cpu_all, tolerance, describe("random", dtype, std::to_string(n)));
  }
}

TEST_F(CudaRandom, UniformNumbersEqualTheCpus) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    compare(Distribution::uniform, 0, 1, dtype, 0);
    compare(Distribution::uniform, -0.3, 0.7, dtype, 0);
  }
}

TEST_F(CudaRandom, IntegersEqualTheCpus) {
  for (const ScalarType dtype : {kLong, kFloat, kDouble})
    compare(Distribution::randint, -5, 1000, dtype, 0);
}

// Logarithm and cosine may differ in the last place.
TEST_F(CudaRandom, NormalNumbersAreCloseToTheCpus) {
  compare(Distribution::normal, 0, 1, kFloat, 2e-7);
  compare(Distribution::normal, 2, 0.5, kDouble, 1e-14);
}

TEST_F(CudaRandom, IntegersDoNotGoIntoBool) {
  const Tensor out = raw::empty({3}, kBool, cuda_backend().resolve(kCUDA));
  EXPECT_CONTAINS(message_of<TypeError>([&] {
                    cuda_backend().random(Distribution::randint, 0, 2, {1, 0}, out);
                  }),
                  "randint");
}

}  // namespace
}  // namespace gradus
