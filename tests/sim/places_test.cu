// threadIdx, blockIdx, blockDim, gridDim and warpSize: variables with the types that CUDA gives
// them, whose names a program may use for its own.
#include <type_traits>

#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using SimPlaceTest = SimTest;

static_assert(std::is_same_v<decltype(threadIdx.x), unsigned>);
static_assert(std::is_same_v<decltype(threadIdx), const uint3>);
static_assert(std::is_same_v<decltype(blockIdx), const uint3>);
static_assert(std::is_same_v<decltype(blockDim), const dim3>);
static_assert(std::is_same_v<decltype(gridDim), const dim3>);
static_assert(std::is_same_v<decltype(warpSize), const int>);

// In CUDA, warpSize is no constant expression: it is the size of no array.
template <class T>
concept KnowsWarpSize = requires {
  typename std::integral_constant<int, (T{}, warpSize)>;
};
static_assert(!KnowsWarpSize<int>);

struct Shape {
  dim3 gridDim, blockDim;
};
__device__ unsigned threads_of(dim3 gridDim, const dim3& blockDim) {
  return gridDim.x * blockDim.x;
}
__global__ void own_names_kernel(unsigned* out) {
  const Shape shape{dim3(7), dim3(16, 16)};
  uint3 threadIdx = {1, 2, 3};
  threadIdx.x += threads_of(shape.gridDim, shape.blockDim);
  *out = threadIdx.x;
}

TEST_F(SimPlaceTest, LocalsParametersAndMembersMayHaveTheNames) {
  dim3 blockDim(1), gridDim(1, 1);
  const DeviceArray<unsigned> out(1);
  launch(own_names_kernel, {gridDim, blockDim}, out);
  EXPECT_EQ(out.values()[0], 1 + 7 * 16u);
}

// Not inlined, so that it reads through the reference.
__device__ __attribute__((noinline)) unsigned linear(const uint3& at, const dim3& size) {
  return at.x + size.x * at.y;
}
template <class T>
__device__ T twice(T x) {
  return x + x;
}
__global__ void references_kernel(unsigned* out) {
  auto& t = threadIdx;
  const uint3 copy = blockIdx;
  const unsigned before = linear(t, blockDim) + blockDim.x * blockDim.y * linear(copy, gridDim);
  __syncthreads();  // other threads run
  const unsigned i =
      linear(threadIdx, blockDim) + blockDim.x * blockDim.y * linear(blockIdx, gridDim);
  out[i] = twice(before) + ::min(t.x, 0u);
  if (i == 0) out[i] = static_cast<unsigned>(warpSize);
}

TEST_F(SimPlaceTest, AreReadByReferenceAndAfterBarriersAsBefore) {
  const DeviceArray<unsigned> out(3 * 2 * 8 * 4);
  launch(references_kernel, {{3, 2}, {8, 4}}, out);
  const auto values = out.values();
  EXPECT_EQ(values[0], 32u);
  for (unsigned i = 1; i < values.size(); ++i) ASSERT_EQ(values[i], 2 * i);
}

}  // namespace
}  // namespace gradus
