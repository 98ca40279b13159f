#include "gradus/gradus.h"
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

// By the default generators, and by generators of each device with one seed.
TEST_F(CudaRandom, ASeedGivesTheSameOnBothDevices) {
  for (const bool own : {false, true}) {
    manual_seed(rng()());
    std::optional<Generator> here, there;
    if (own)
      here = make_generator<CPUGeneratorImpl>(7), there = cuda::detail::createCUDAGenerator();
    if (own) there->set_current_seed(7);
    const auto expect_same = [](const Tensor& x, const Tensor& y, double tolerance = 0) {
      EXPECT_TRUE(y.is_cuda());
      EXPECT_TRUE(allclose(x, y.cpu(), tolerance, tolerance));
    };
    const Tensor p = full({7, 3}, 0.4);
    expect_same(bernoulli(p, here), bernoulli(p.to(kCUDA), there));
    expect_same(multinomial(p, 2, false, here), multinomial(p.to(kCUDA), 2, false, there));
    expect_same(randperm(20, here), randperm(20, there, TensorOptions(kLong).device(kCUDA)));
    expect_same(p.clone().random_(0, 9, here), p.to(kCUDA).random_(0, 9, there));
    expect_same(p.clone().exponential_(2, here), p.to(kCUDA).exponential_(2, there), 1e-6);
    expect_same(p.clone().cauchy_(0, 1, here), p.to(kCUDA).cauchy_(0, 1, there), 1e-6);
    expect_same(normal(p, p, here), normal(p.to(kCUDA), p.to(kCUDA), there), 1e-6);
  }
  cuda::manual_seed_all(3);
  EXPECT_EQ(cuda::detail::getDefaultCUDAGenerator().current_seed(), 3u);
  cuda::manual_seed(4);
  EXPECT_EQ(default_generator(Device(kCUDA, 0)).current_seed(), 4u);
}

}  // namespace
}  // namespace gradus
