// How a thread of a kernel may end: by an assertion, or by a feature that the simulator lacks.
#include <cassert>
#include <cstdlib>

#include <limits>

#include "tests/sim/runtime_test.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;
using SimKernelEndsTest = SimRuntimeTest;

Finding only_finding() {
  std::vector<Finding> found = take_findings();
  EXPECT_EQ(found.size(), 1u) << text_of(found);
  return found.empty() ? Finding{} : found[0];
}

constexpr int kAssertLine = __LINE__ + 2;
__global__ void assert_kernel(const int* x, int* out) {
  assert(x[threadIdx.x] == 0);
  out[threadIdx.x] = 1;
}

TEST_F(SimKernelEndsTest, AnAssertionStopsTheThread) {
  const DeviceArray<int> x(std::vector{0, 0, 7, 0}), out(4, 0);
  launch(assert_kernel, {1, 4}, x, out);
  expect_status(cudaDeviceSynchronize(), cudaErrorAssert);
  const Finding found = only_finding();
  EXPECT_EQ(found.kind, Kind::assertion);
  EXPECT_EQ(found.message, "x[threadIdx.x] == 0 does not hold");
  EXPECT_EQ(found.sides.at(0).thread.x, 2u);
  EXPECT_EQ(found.sides[0].frames.at(0).line, kAssertLine);
  EXPECT_EQ(out.values(), std::vector({1, 1, 0, 1}));
}

__global__ void trap_kernel(int* out) {
  if (threadIdx.x == 1) __trap();
  out[threadIdx.x] = 1;
}

TEST_F(SimKernelEndsTest, ATrapStopsTheThread) {
  const DeviceArray<int> out(2, 0);
  launch(trap_kernel, {1, 2}, out);
  const Finding found = only_finding();
  EXPECT_EQ(found.kind, Kind::assertion);
  EXPECT_EQ(found.sides.at(0).what, "calls __trap");
  EXPECT_EQ(out.values(), std::vector({1, 0}));
}

__global__ void smallest_kernel(const int* x, int* out, bool rest) {
  out[threadIdx.x] = rest ? x[0] % x[threadIdx.x + 1] : x[0] / x[threadIdx.x + 1];
}

// By a fault of the processor, if the processor raises one.
#ifdef __x86_64__
TEST_F(SimKernelEndsTest, TheSmallestIntegerHasNoNegative) {
  for (const bool rest : {false, true}) {
    const int smallest = std::numeric_limits<int>::min();
    const DeviceArray<int> x(std::vector{smallest, 2, -1}), out(2, 5);
    launch(smallest_kernel, {1, 2}, x, out, rest);
    const Finding found = only_finding();
    EXPECT_EQ(found.kind, Kind::arithmetic);
    EXPECT_CONTAINS(found.message, "the smallest one");
    EXPECT_EQ(found.sides.at(0).thread.x, 1u);
    ASSERT_FALSE(found.sides[0].frames.empty());
    EXPECT_CONTAINS(found.sides[0].frames[0].function, "smallest_kernel");
    EXPECT_EQ(out.values(), std::vector({rest ? 0 : smallest / 2, 5}));
  }
}
#endif

template <bool by_malloc>
__global__ void heap_kernel(int* out, int n) {
  int* const some = by_malloc ? static_cast<int*>(malloc(n * sizeof(int))) : new int[n];
  some[n - 1] = 1;
  out[threadIdx.x] = some[n - 1];
}

TEST_F(SimKernelEndsTest, ThereIsNoHeap) {
  if (!cuda::sim::checks()) GTEST_SKIP() << "GRADUS_SIM_CHECK=0: the simulator does not check";
  const DeviceArray<int> out(1);
  launch(heap_kernel<true>, {1, 1}, out, 4);
  EXPECT_CONTAINS(only_finding().message, "the simulator has no heap for kernels, as malloc wants");
  launch(heap_kernel<false>, {1, 1}, out, 4);
  EXPECT_CONTAINS(only_finding().message, "the simulator has no heap for kernels, as new wants");
}

// 160 KB a thread, of which parts are touched in any order.
__global__ void large_array_kernel(int* out, int at) {
  volatile int values[40000];
  values[at] = static_cast<int>(threadIdx.x);
  values[39999] = 3;
  __syncthreads();
  out[threadIdx.x] = values[at] + values[39999];
}

TEST_F(SimKernelEndsTest, ThreadsHaveRoomForLargeArrays) {
  const DeviceArray<int> out(64);
  launch(large_array_kernel, {1, 64}, out, 0);
  EXPECT_EQ(out.values()[63], 66);
}

// Arguments with copy constructors of their own.
class View {
 public:
  View(float* data, int size) : data_(data), size_(size) {}
  __host__ __device__ View(const View& other) : data_(other.data_), size_(other.size_) {}
  __host__ __device__ ~View() {}
  __device__ float& operator[](unsigned i) const { return data_[i]; }

 private:
  float* data_;
  int size_;
};
__global__ void view_kernel(View x, const View out) { out[threadIdx.x] = 2 * x[threadIdx.x]; }

TEST_F(SimKernelEndsTest, ArgumentsMayHaveCopyConstructors) {
  const DeviceArray<float> x(32, 1.f), out(32);
  launch(view_kernel, {1, 32}, View(x, 32), View(out, 32));
  EXPECT_EQ(out.values(), std::vector<float>(32, 2.f));
}

}  // namespace
}  // namespace gradus
