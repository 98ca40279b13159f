// Accesses are seen where the source text has them, whatever the optimizer does.
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;
using SimOptimizerTest = SimFindingsTest;

// No thread reaches the load, so no thread reads unwritten memory.
__global__ void guarded_load_kernel(const int* x, int n, int limit, int* out) {
  __shared__ int table[4];
  int sum = 0;
  if (limit < 0) table[2] = 1;
  for (int i = 0; i < n; ++i)
    if (x[i] > limit) sum += table[2];
  out[threadIdx.x] = sum;
}

TEST_F(SimOptimizerTest, ALoadStaysBehindItsCondition) {
  const DeviceArray<int> x(100, 1), out(32);
  launch(guarded_load_kernel, {1, 32}, x, 100, 5, out);
  EXPECT_EQ(out.values(), std::vector<int>(32, 0));
}

constexpr int kFirstStore = __LINE__ + 3;
__global__ void two_stores_kernel(const int* x, int* out) {
  if (x[0] > 0)
    out[64] = x[1];
  else
    out[64] = x[2];
}

TEST_F(SimOptimizerTest, EachOfTwoBranchesStoresAtItsLine) {
  for (const int value : {1, 0}) {
    const DeviceArray<int> x(3, value), out(1);
    launch(two_stores_kernel, {1, 1}, x, out);
    const std::vector<Finding> found = take_findings();
    ASSERT_EQ(found.size(), 1u) << text_of(found);
    EXPECT_EQ(found[0].sides[0].frames.at(0).line, value ? kFirstStore : kFirstStore + 2);
  }
}

constexpr int kEarlyLoad = __LINE__ + 2;
__global__ void early_load_kernel(const int* x, int* out, int n) {
  const int value = x[threadIdx.x];
  if (n > 0) out[0] = value;
}

TEST_F(SimOptimizerTest, ALoadBeforeItsGuardIsSeenThere) {
  const DeviceArray<int> x(3, 1), out(3);
  launch(early_load_kernel, {1, 4}, x, out, 0);
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, Kind::out_of_bounds);
  EXPECT_EQ(found[0].sides[0].frames.at(0).line, kEarlyLoad);
}

// The second loop asks what the branch before the barrier has asked.
__global__ void barrier_behind_a_branch_kernel(int count, const int* x, int* out) {
  __shared__ int values[64];
  const int t = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int first = 0; first < count; first += 64) {
    const int some = ::min(64, count - first);
    __syncthreads();
    if (t < some) values[t] = x[first + t];
    __syncthreads();
    for (int i = t; i < some; i += 128) sum += values[i];
  }
  out[t] = sum;
}

TEST_F(SimOptimizerTest, ABarrierBehindABranchIsOneForAllThreads) {
  const DeviceArray<int> x(100, 1), out(128);
  launch(barrier_behind_a_branch_kernel, {1, 128}, 100, x, out);
  std::vector<int> expected(128, 0);
  for (int t = 0; t < 64; ++t) expected[t] = t < 36 ? 2 : 1;
  EXPECT_EQ(out.values(), expected);
}

constexpr int kForgotten = __LINE__ + 3;
__global__ void forgotten_kernel(int* out) {
  __shared__ int table[32];
  out[threadIdx.x] = table[threadIdx.x];
}

TEST_F(SimOptimizerTest, AnArrayThatNobodyWritesIsReadAllTheSame) {
  const DeviceArray<int> out(32);
  launch(forgotten_kernel, {1, 32}, out);
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, Kind::unwritten);
  EXPECT_EQ(found[0].sides[0].frames.at(0).line, kForgotten);
}

}  // namespace
}  // namespace gradus
