// A kernel in PTX has a readable twin, which the simulator runs and checks in its place. Nothing
// else of the kernel knows about the simulator.
#include "tests/random.h"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;

using SimTwinTest = SimFindingsTest;

// One instruction for three inputs: a where `mask` has a bit, else b.
__device__ inline unsigned choose(unsigned mask, unsigned a, unsigned b) {
#ifdef GRADUS_SIMULATED
  return (mask & a) | (~mask & b);
#else
  unsigned out;
  asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(out) : "r"(mask), "r"(a), "r"(b));
  return out;
#endif
}

// Four floats that are read once: past the caches. The twin touches the same memory.
__device__ inline float4 load_once(const float4* from) {
#ifdef GRADUS_SIMULATED
  return __ldcs(from);
#else
  float4 out;
  asm volatile("ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(out.x), "=f"(out.y), "=f"(out.z), "=f"(out.w)
               : "l"(from)
               : "memory");
  return out;
#endif
}

__device__ inline void add_at(float* to, float value) {
#ifdef GRADUS_SIMULATED
  atomicAdd(to, value);
#else
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(to), "f"(value) : "memory");
#endif
}

__global__ void choose_kernel(const unsigned* mask, const unsigned* a, const unsigned* b,
                              unsigned* out) {
  const unsigned i = threadIdx.x;
  out[i] = choose(mask[i], a[i], b[i]);
}

// REQUIRES: n a multiple of 4.
__global__ void sum_kernel(const float* x, float* sum, unsigned n) {
  const unsigned i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float4 four = load_once(reinterpret_cast<const float4*>(x + i));
  add_at(sum, four.x + four.y + four.z + four.w);
}

TEST_F(SimTwinTest, ChoosesBits) {
  std::vector<unsigned> mask(64), a(64), b(64), expected(64);
  for (size_t i = 0; i < 64; ++i) {
    for (auto* each : {&mask, &a, &b}) (*each)[i] = static_cast<unsigned>(test::rng()());
    for (unsigned bit = 0; bit < 32; ++bit)
      expected[i] |= ((mask[i] >> bit & 1 ? a[i] : b[i]) >> bit & 1) << bit;
  }
  const DeviceArray<unsigned> on_mask(mask), on_a(a), on_b(b), out(64);
  launch(choose_kernel, {1, 64}, on_mask, on_a, on_b, out);
  EXPECT_EQ(out.values(), expected);
}

TEST_F(SimTwinTest, IsCountedAsTheInstructionsAre) {
  const DeviceArray<float> x(1000, 0.5f), sum(1, 0.f);
  const auto launched = counts_of([&] { launch(sum_kernel, {2, 128}, x, sum, 1000u); });
  EXPECT_EQ(sum.values()[0], 500.f);
  EXPECT_EQ(launched.counts.global_loads, 250) << "of four floats each";
  EXPECT_EQ(launched.counts.global_load_bytes, 4000);
  EXPECT_EQ(launched.counts.sectors, 4000 / 32);
  EXPECT_EQ(launched.counts.atomics, 250);
  EXPECT_EQ(launched.idle_threads, 6);
  EXPECT_TRUE(launched.advice().empty());
}

TEST_F(SimTwinTest, IsCheckedAsTheInstructionsAre) {
  const DeviceArray<float> x(1000, 0.5f), sum(1, 0.f);
  launch(sum_kernel, {2, 128}, x, sum, 1001u);
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, Kind::out_of_bounds);
  EXPECT_EQ(found[0].sides.at(0).what, "reads 16 bytes");
  EXPECT_CONTAINS(found[0].sides.at(0).frames.at(0).function, "load_once");

  launch(sum_kernel, {1, 1}, x + 1, sum, 4u);
  EXPECT_EQ(take_findings().at(0).kind, Kind::misaligned);
}

}  // namespace
}  // namespace gradus
