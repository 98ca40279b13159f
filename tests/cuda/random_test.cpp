// Random numbers of a GPU against the CPU's.
#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

class CudaRandom : public GpuTest {};

// check(gpu, cpu, what) for the same draws on both devices, into memory that starts at any element.
template <class Check>
void draw_both(Distribution kind, const Scalar& a, const Scalar& b, ScalarType dtype, Check check) {
  for (const int64_t n : {int64_t{1}, int64_t{2}, int64_t{511}, int64_t{2048}, pick(2049, 9999)})
    for (const int64_t offset : {int64_t{0}, pick(1, 15)}) {
      const PhiloxState state{rng()(), rng()() >> 1};
      const Pair out = random_pair(dtype, contiguous_layout("", {n}, offset), {0, 1});
      cpu_backend().random(kind, a, b, state, out.cpu);
      cuda_backend().random(kind, a, b, state, out.gpu);
      check(out.gpu_all, out.cpu_all, describe("random", dtype, std::to_string(n)));
    }
}
void compare(Distribution kind, const Scalar& a, const Scalar& b, ScalarType dtype,
             double tolerance) {
  draw_both(kind, a, b, dtype, [&](const Tensor& gpu, const Tensor& cpu, const std::string& what) {
    expect_close(gpu, cpu, tolerance, what);
  });
}

constexpr ScalarType kAllDtypes[] = {
#define DTYPE(name, ...) k##name,
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
};

TEST_F(CudaRandom, UniformNumbersEqualTheCpus) {
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble}) {
    compare(Distribution::uniform, 0, 1, dtype, 0);
    compare(Distribution::uniform, -0.3, 0.7, dtype, 0);
  }
}

TEST_F(CudaRandom, IntegersEqualTheCpus) {
  for (const ScalarType dtype : kAllDtypes) {
    compare(Distribution::randint, 0, 100, dtype, 0);
    compare(Distribution::bernoulli, 0.3, 0, dtype, 0);
  }
  compare(Distribution::randint, INT64_MIN / 3, INT64_MAX / 2, kLong, 0);
}

// Each device is within 5 units of the last place of the truth (tests/cpu/random_test.cpp), which
// are up to 6e-7 of a float; powers of e multiply that by their exponent, and rounding to a half
// type may go the other way.
TEST_F(CudaRandom, RealNumbersAreCloseToTheCpus) {
  const std::pair<ScalarType, double> dtypes[] = {
      {kHalf, 1e-3}, {kBFloat16, 8e-3}, {kFloat, 1.2e-6}, {kDouble, 2.4e-15}};
  for (const auto& [dtype, tolerance] : dtypes) {
    compare(Distribution::normal, 0, 1, dtype, tolerance);
    compare(Distribution::normal, 2, 0.5, dtype, 2 * tolerance);
    compare(Distribution::log_normal, 0, 1, dtype, 7 * tolerance);
    compare(Distribution::exponential, 2, 0, dtype, tolerance);
    compare(Distribution::cauchy, 0, 1, dtype, tolerance);
  }
}

// A number that rounding moves over an integer counts one more; in double none does.
TEST_F(CudaRandom, CountsOfTrialsAreThoseOfTheCpu) {
  for (const ScalarType dtype : {kShort, kInt, kLong, kDouble})
    compare(Distribution::geometric, 0.05, 0, dtype, 0);
  draw_both(Distribution::geometric, 0.5, 0, kFloat,
            [](const Tensor& gpu, const Tensor& cpu, const std::string& what) {
              const Tensor moved = (gpu.cpu() - cpu).abs();
              EXPECT_LE(moved.max().item<double>(), 1) << what;
              EXPECT_LE(moved.sum().item<double>(), 2) << what;
            });
}

TEST_F(CudaRandom, MapsOfElementsEqualTheCpus) {
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble})
    for (const RandomMap op : {RandomMap::bernoulli, RandomMap::dropout})
      for (const int64_t offset : {int64_t{0}, pick(1, 15)}) {
        const PhiloxState state{rng()(), rng()() >> 1};
        const auto layout = contiguous_layout("", {pick(1, 9999)}, offset);
        const Pair x = random_pair(dtype, layout, {0, 1}), out = random_pair(dtype, layout);
        cpu_backend().random_map(op, 0.3, state, x.cpu, out.cpu);
        cuda_backend().random_map(op, 0.3, state, x.gpu, out.gpu);
        expect_close(out.gpu, out.cpu, 0, describe("random_map", dtype, ""));
        cuda_backend().random_map(op, 0.3, state, x.gpu, x.gpu);
        expect_close(x.gpu, out.cpu, 0, describe("random_map in place", dtype, ""));
      }
}

TEST_F(CudaRandom, RealNumbersAreNotIntegers) {
  const Tensor out = raw::empty({3}, kLong, cuda_backend().resolve(kCUDA));
  EXPECT_CONTAINS(message_of<TypeError>([&] {
                    cuda_backend().random(Distribution::normal, 0, 2, {1, 0}, out);
                  }),
                  "normal");
}

// The order of random numbers, which is another one than the CPU's shuffle gives.
TEST_F(CudaRandom, PermutationsHaveEveryNumberOnce) {
  for (const int64_t n : {0, 1, 2, 1000, 5000}) {
    cuda::manual_seed_all(3);
    const Tensor order = randperm(n, TensorOptions(kInt).device(kCUDA));
    EXPECT_TRUE(equal(std::get<0>(order.cpu().sort()), arange(n, kInt))) << n;
    EXPECT_TRUE(n < 1000 || !equal(order.cpu(), arange(n, kInt))) << n;
    cuda::manual_seed_all(3);
    EXPECT_TRUE(equal(randperm(n, TensorOptions(kInt).device(kCUDA)), order));
    EXPECT_TRUE(n < 1000 || !equal(randperm(n, TensorOptions(kInt).device(kCUDA)), order));
  }
}

TEST_F(CudaRandom, DropoutAndItsGradientAreTheCpus) {
  const Tensor x = rand({40, 50}), grad = rand({40, 50});
  const auto run = [&](Device device) {
    manual_seed(5);
    const Tensor leaf = x.to(device).clone().requires_grad_();
    const Tensor y = dropout(leaf.t(), 0.4, true);
    y.backward(grad.to(device).t());
    return std::pair(y.detach().cpu(), leaf.grad().cpu());
  };
  const auto [y, dy] = run(kCPU);
  const auto [z, dz] = run(kCUDA);
  EXPECT_TRUE(equal(y, z));
  EXPECT_TRUE(equal(dy, dz));
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
