// memcpy, memmove and memset in kernels.
#include <algorithm>
#include <cstring>
#include <string>

#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;
using SimBytesTest = SimFindingsTest;

std::vector<float> numbers(int count) {
  std::vector<float> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<float>(i));
  return out;
}

__global__ void through_shared_kernel(const float* x, float* out, int n) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  if (t == 0) std::memcpy(tile, x, n * sizeof(float));
  if (t == 1) memset(tile + n, 0, (64 - n) * sizeof(float));
  __syncthreads();
  float value;
  memcpy(&value, &tile[t], sizeof value);
  memmove(out + t, &value, sizeof value);
}

TEST_F(SimBytesTest, WhatTheyWriteIsWritten) {
  const DeviceArray<float> x(numbers(50)), out(64);
  launch(through_shared_kernel, {1, 64}, x, out, 50);
  std::vector<float> expected = numbers(50);
  expected.resize(64);
  EXPECT_EQ(out.values(), expected);
}

// By the standard library, and with sizes that a compiler copies by itself.
struct Seven {
  char bytes[7];
};
__global__ void algorithms_kernel(const float* x, float* out, const Seven* from, Seven* to) {
  std::copy(x, x + 32, out);
  std::fill(out + 32, out + 64, 1.f);
  __builtin_memcpy(to, from, sizeof(Seven));
}

TEST_F(SimBytesTest, AlgorithmsAreSeen) {
  const DeviceArray<float> x(numbers(32)), out(64);
  const DeviceArray<Seven> from(1), to(1);
  launch(algorithms_kernel, {1, 1}, x, out, from, to);
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, Kind::unwritten);
  EXPECT_EQ(found[0].sides[0].what, "reads 7 bytes");
  EXPECT_EQ(out.values()[31], 31);
}

__global__ void clear_kernel(float* out, size_t nbytes) { memset(out, 0, nbytes); }
__global__ void copy_bytes_kernel(float* out, const float* x, size_t nbytes) {
  memcpy(out, x, nbytes);
}

TEST_F(SimBytesTest, BoundsHoldForAllOfTheBytes) {
  const DeviceArray<float> x(64, 1.f), out(64);
  launch(clear_kernel, {1, 1}, out, 257);
  EXPECT_EQ(take_findings().at(0).kind, Kind::out_of_bounds);
  launch(copy_bytes_kernel, {1, 1}, out, x + 1, 256);
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].sides[0].what, "reads 256 bytes");
  launch(copy_bytes_kernel, {1, 1}, nullptr, nullptr, 0);  // nothing is nowhere
}

__global__ void race_kernel(const float* x, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) memcpy(tile, x, sizeof tile);
  out[threadIdx.x] = tile[threadIdx.x];
}

TEST_F(SimBytesTest, TheyRace) {
  const DeviceArray<float> x(64, 1.f), out(64);
  launch(race_kernel, {1, 64}, x, out);
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, Kind::race);
  EXPECT_EQ(found[0].times, 63);
}

// By pieces of 16 bytes.
TEST_F(SimBytesTest, TheyCount) {
  const DeviceArray<float> x(65, 1.f), out(65);
  const auto counts = counts_of([&] {
                        launch(copy_bytes_kernel, {1, 1}, out, x, 65 * sizeof(float));
                      }).counts;
  EXPECT_EQ(counts.global_loads, 17);
  EXPECT_EQ(counts.global_load_bytes, 260);
  EXPECT_EQ(counts.global_stores, 17);
  EXPECT_EQ(counts.global_store_bytes, 260);
}

TEST_F(SimBytesTest, OnTheHostTheyAreTheLibrarys) {
  char text[16];
  std::memset(text, 'x', sizeof text);
  std::memcpy(text, "abc", 3);
  std::memmove(text + 1, text, 3);
  EXPECT_EQ(std::string(text, 5), "aabcx");
}

}  // namespace
}  // namespace gradus
