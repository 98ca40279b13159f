// Copies under way (cp.async): when they are done, what they count as, and what a finding says.
#include <cuda_pipeline.h>

#include "gradus/cuda/kernels/tensor_core.cuh"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using cuda::copy_later, cuda::end_copy_group, cuda::wait_for_copies;
using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;

using SimCopiesTest = SimFindingsTest;

// out: the target after each of four moments.
__global__ void moments_kernel(const float* x, float* out) {
  __shared__ float tile[2];
  const auto look = [&](int moment) { out[2 * moment] = tile[0], out[2 * moment + 1] = tile[1]; };
  tile[0] = tile[1] = -1;
  copy_later<4>(&tile[0], x, 4);
  end_copy_group();
  copy_later<4>(&tile[1], x + 1, 4);
  look(0);
  wait_for_copies<0>();
  look(1);
  end_copy_group();
  wait_for_copies<1>();
  look(2);
  wait_for_copies<0>();
  look(3);
}

TEST_F(SimCopiesTest, AreDoneWhenTheirGroupHasBeenWaitedFor) {
  const DeviceArray<float> x(std::vector<float>{5, 6}), out(8);
  launch(moments_kernel, {1, 1}, x, out);
  const auto found = take_findings();
  EXPECT_EQ(out.values(), (std::vector<float>{-1, -1, 5, -1, 5, -1, 5, 6}));
  EXPECT_FALSE(found.empty());
  for (const Finding& each : found) EXPECT_EQ(each.kind, Kind::under_way) << each;
}

__global__ void pipeline_kernel(const float* x, float* out, unsigned zeros) {
  __shared__ float4 tile[32];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], x + 4 * t, 16, zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  reinterpret_cast<float4*>(out)[t] = tile[t];
}

TEST_F(SimCopiesTest, FillTheRestWithZeros) {
  std::vector<float> x(128), expected(128, 0.f);
  for (size_t i = 0; i < 128; ++i) x[i] = static_cast<float>(i + 1);
  for (size_t i = 0; i < 128; ++i)
    if (i % 4 == 0) expected[i] = x[i];
  const DeviceArray<float> on_x(x), out(128);
  launch(pipeline_kernel, {1, 32}, on_x, out, 12u);
  EXPECT_EQ(out.values(), expected);
  launch(pipeline_kernel, {1, 32}, on_x, out, 0u);
  EXPECT_EQ(out.values(), x);
}

TEST_F(SimCopiesTest, CountAsOneLoadAndOneStore) {
  const DeviceArray<float> x(128, 1.f), out(128);
  const auto launched = counts_of([&] { launch(pipeline_kernel, {1, 32}, x, out, 0u); });
  EXPECT_EQ(launched.counts.global_loads, 32);
  EXPECT_EQ(launched.counts.global_load_bytes, 512);
  EXPECT_EQ(launched.counts.sectors, 2 * 512 / 32);
  EXPECT_EQ(launched.counts.shared_stores, 32);
  EXPECT_EQ(launched.counts.shared_loads, 32);
  EXPECT_TRUE(launched.advice().empty());
}

constexpr int kCopyLine = __LINE__ + 3, kReadLine = kCopyLine + 3;
__global__ void early_read_kernel(const float* x, float* out) {
  __shared__ float tile[64];
  copy_later<4>(&tile[threadIdx.x], x + threadIdx.x, 4);
  end_copy_group();
  __syncthreads();
  if (threadIdx.x == 0) *out = tile[33];
}

TEST_F(SimCopiesTest, AFindingNamesBothSides) {
  const DeviceArray<float> x(64, 1.f), out(1);
  launch(early_read_kernel, {1, 64}, x, out);
  const auto found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].message,
            "a copy to this memory (cp.async) is under way; the thread that began it has to wait "
            "for its group (cp.async.wait_group), and then a barrier must follow");
  ASSERT_EQ(found[0].sides.size(), 2u);
  const auto& reads = found[0].sides[0];
  EXPECT_EQ(reads.what, "reads 4 bytes");
  EXPECT_EQ(reads.frames.at(0).line, kReadLine);
  EXPECT_EQ(reads.thread.x, 0u);
  const auto& begins = found[0].sides[1];
  EXPECT_EQ(begins.what, "began to copy to here");
  EXPECT_CONTAINS(begins.frames.at(0).function, "copy_later");
  EXPECT_EQ(begins.frames.at(1).line, kCopyLine);
  EXPECT_EQ(begins.thread.x, 33u);
}

__global__ void leaves_copies_kernel(const float* x, bool copies, float* out) {
  __shared__ float tile[32];
  if (copies) {
    copy_later<4>(&tile[threadIdx.x], x, 4);
    end_copy_group();
  } else {
    tile[threadIdx.x] = 2;
    out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];
  }
}

TEST_F(SimCopiesTest, EndWithTheirBlock) {
  const DeviceArray<float> x(1, 1.f), out(128);
  launch(leaves_copies_kernel, {4, 32}, x, true, out);
  launch(leaves_copies_kernel, {4, 32}, x, false, out);
  EXPECT_TRUE(take_findings().empty());
}

__global__ void wrong_place_kernel(const float* x, float* out, bool to_global) {
  __shared__ float tile[2];
  if (to_global)
    copy_later<4>(out, x, 4);
  else
    copy_later<4>(&tile[1], &tile[0], 4);
}

TEST_F(SimCopiesTest, GoFromGlobalToSharedMemory) {
  const DeviceArray<float> x(1, 1.f), out(1);
  for (const bool to_global : {false, true}) {
    launch(wrong_place_kernel, {1, 1}, x, out, to_global);
    const auto found = take_findings();
    ASSERT_EQ(found.size(), 1u) << text_of(found);
    EXPECT_EQ(found[0].kind, Kind::foreign_memory);
    EXPECT_CONTAINS(found[0].message, to_global ? "goes to shared memory" : "comes from global");
  }
}

}  // namespace
}  // namespace gradus
