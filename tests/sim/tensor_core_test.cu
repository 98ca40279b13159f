// The twin of the instruction of tensor cores.
#include "gradus/cuda/kernels/tensor_core.cuh"

#include "tests/random.h"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;

using SimTensorCoreTest = SimFindingsTest;

// c (16, 8) += a (16, 8) * b (8, 8), all row-major.
__global__ void product_kernel(const float* a, const float* b, float* c, unsigned lanes) {
  if (threadIdx.x >= lanes) return;
  const unsigned group = threadIdx.x / 4, member = threadIdx.x % 4;
  uint32_t from_a[4], from_b[2];
  float sum[4];
  for (unsigned i = 0; i < 4; ++i) {
    from_a[i] = __float_as_uint(a[(group + i % 2 * 8) * 8 + member + i / 2 * 4]);
    sum[i] = c[(group + i / 2 * 8) * 8 + member * 2 + i % 2];
  }
  for (unsigned i = 0; i < 2; ++i) from_b[i] = __float_as_uint(b[(member + i * 4) * 8 + group]);
  cuda::multiply_add_tf32(sum, from_a, from_b);
  for (unsigned i = 0; i < 4; ++i) c[(group + i / 2 * 8) * 8 + member * 2 + i % 2] = sum[i];
}

std::vector<float> whole_numbers(size_t count) {
  std::vector<float> out(count);
  for (float& x : out) x = static_cast<float>(test::pick(-1000, 1000));
  return out;
}

TEST_F(SimTensorCoreTest, MultipliesWhatTheLanesHold) {
  const std::vector<float> a = whole_numbers(128), b = whole_numbers(64), c = whole_numbers(128);
  const DeviceArray<float> on_a(a), on_b(b), on_c(c);
  const auto counts = counts_of([&] { launch(product_kernel, {1, 32}, on_a, on_b, on_c, 32u); });
  EXPECT_EQ(counts.tensor_products, 16 * 8 * 8);
  for (size_t row = 0; row < 16; ++row)
    for (size_t col = 0; col < 8; ++col) {
      float sum = c[row * 8 + col];
      for (size_t k = 0; k < 8; ++k) sum += a[row * 8 + k] * b[k * 8 + col];
      ASSERT_EQ(on_c.values()[row * 8 + col], sum) << row << " " << col;
    }
}

TEST_F(SimTensorCoreTest, IgnoresTheLastBitsOfAFloat) {
  const DeviceArray<float> a(128, 1 + 0x1p-10f + 0x1p-11f), b(64, 1.f), c(128, 0.f);
  launch(product_kernel, {1, 32}, a, b, c, 32u);
  EXPECT_EQ(c.values()[0], 8 * (1 + 0x1p-10f));
}

TEST_F(SimTensorCoreTest, NeedsAllLanes) {
  const DeviceArray<float> a(128, 1.f), b(64, 1.f), c(128, 0.f);
  launch(product_kernel, {1, 32}, a, b, c, 31u);
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, Kind::warp);
  EXPECT_CONTAINS(text_of(found), "tensor cores work for all 32 lanes");
  EXPECT_CONTAINS(text_of(found), "tensor_core");
}

// c (2, 16, 8) += a (16, 16) * b (16, 8) by both functions.
__global__ void half_product_kernel(const Half* a, const Half* b, float* c) {
  const unsigned group = threadIdx.x / 4, member = threadIdx.x % 4;
  const auto both = [](Half x, Half y) { return uint32_t{x.bits} | uint32_t{y.bits} << 16; };
  uint32_t from_a[4], from_b[2];
  for (unsigned i = 0; i < 4; ++i) {
    const Half* const at = a + (group + i % 2 * 8) * 16 + member * 2 + i / 2 * 8;
    from_a[i] = both(at[0], at[1]);
  }
  for (unsigned i = 0; i < 2; ++i) {
    const Half* const at = b + (member * 2 + i * 8) * 8 + group;
    from_b[i] = both(at[0], at[8]);
  }
  float sums[2][4] = {};
  cuda::multiply_add_halves<Half>(sums[0], from_a, from_b);
  cuda::multiply_add_halves_by_lanes<Half>(sums[1], from_a, from_b);
  for (unsigned way = 0; way < 2; ++way)
    for (unsigned i = 0; i < 4; ++i)
      c[(way * 16 + group + i / 2 * 8) * 8 + member * 2 + i % 2] = sums[way][i];
}

TEST_F(SimTensorCoreTest, MultipliesHalves) {
  std::vector<Half> a(256), b(128);
  for (Half& x : a) x = Half(static_cast<float>(test::pick(-100, 100)));
  for (Half& x : b) x = Half(static_cast<float>(test::pick(-100, 100)));
  const DeviceArray<Half> on_a(a), on_b(b);
  const DeviceArray<float> on_c(256, 0.f);
  launch(half_product_kernel, {1, 32}, on_a, on_b, on_c);
  for (size_t row = 0; row < 32; ++row)
    for (size_t col = 0; col < 8; ++col) {
      float sum = 0;
      for (size_t k = 0; k < 16; ++k)
        sum += static_cast<float>(a[row % 16 * 16 + k]) * static_cast<float>(b[k * 8 + col]);
      ASSERT_EQ(on_c.values()[row * 8 + col], sum) << row << " " << col;
    }
}

}  // namespace
}  // namespace gradus
