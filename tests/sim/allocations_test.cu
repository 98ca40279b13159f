// Other ways to allocate and copy, attributes of devices and kernels, and occupancy.
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using SimAllocationTest = SimTest;
using SimOccupancyTest = SimTest;

__global__ void transpose_kernel(const int* from, size_t pitch, int* to) {
  const auto* const row =
      reinterpret_cast<const int*>(reinterpret_cast<const char*>(from) + threadIdx.y * pitch);
  to[threadIdx.x * blockDim.y + threadIdx.y] = row[threadIdx.x];
}

TEST_F(SimAllocationTest, RowsThatAreApart) {
  int* rows = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&rows, &pitch, 3 * sizeof(int), 2), cudaSuccess);
  EXPECT_GE(pitch, 3 * sizeof(int));
  EXPECT_EQ(pitch % 256, 0u);
  const int values[2][4] = {{1, 2, 3, -1}, {4, 5, 6, -1}};
  ASSERT_EQ(cudaMemcpy2D(rows, pitch, values, sizeof values[0], 3 * sizeof(int), 2,
                         cudaMemcpyHostToDevice),
            cudaSuccess);
  const DeviceArray<int> out(6);
  launch(transpose_kernel, {1, dim3(3, 2)}, rows, pitch, out);
  EXPECT_EQ(out.values(), (std::vector<int>{1, 4, 2, 5, 3, 6}));
  int got[2][3] = {};
  ASSERT_EQ(cudaMemset2D(rows, pitch, 0, sizeof(int), 2), cudaSuccess);
  ASSERT_EQ(
      cudaMemcpy2DAsync(got, sizeof got[0], rows, pitch, sizeof got[0], 2, cudaMemcpyDeviceToHost),
      cudaSuccess);
  EXPECT_EQ(got[0][0] + got[1][0], 0);
  EXPECT_EQ(got[1][2], 6);
  EXPECT_EQ(cudaMemcpy2D(got, 4, rows, pitch, 12, 2, cudaMemcpyDeviceToHost),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(rows, pitch, values, 16, 16, 99, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(rows), cudaSuccess);
  cudaGetLastError();
}

TEST_F(SimAllocationTest, InTheOrderOfAStream) {
  int* data = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&data, 8, stream), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(data, 0, 8, stream), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(data, stream), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(data, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  cudaGetLastError();
}

#ifdef GRADUS_SIMULATED
TEST_F(SimAllocationTest, ManagedMemoryIsRefusedWithAReason) {
  float* data = nullptr;
  EXPECT_EQ(cudaMallocManaged(&data, 64), cudaErrorNotSupported);
  EXPECT_EQ(data, nullptr);
  const std::vector<cuda::sim::Finding> found = cuda::sim::take_findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].message.find("use cudaMalloc"), std::string::npos);
  cudaGetLastError();
}
#endif

// --- Attributes
__global__ void plain_kernel(int* out) { *out = 1; }
template <int kBytes>
__global__ void shared_kernel(char* out, int last) {
  __shared__ char bytes[kBytes];
  for (int i = 0; i <= last; ++i) bytes[i] = 1;
  *out = bytes[last];
}

int attribute(cudaDeviceAttr which) {
  int value = -1;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 0), cudaSuccess);
  return value;
}
TEST_F(SimOccupancyTest, AttributesAreTheProperties) {
  cudaDeviceProp has{};
  ASSERT_EQ(cudaGetDeviceProperties(&has, 0), cudaSuccess);
  EXPECT_EQ(attribute(cudaDevAttrMaxThreadsPerBlock), has.maxThreadsPerBlock);
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount), has.multiProcessorCount);
  EXPECT_EQ(attribute(cudaDevAttrWarpSize), 32);
  EXPECT_EQ(attribute(cudaDevAttrComputeCapabilityMajor), has.major);
  EXPECT_EQ(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), 227 << 10);
  EXPECT_EQ(attribute(cudaDevAttrMaxBlockDimZ), 64);
  int ignored = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&ignored, cudaDevAttrWarpSize, 99), cudaErrorInvalidDevice);
  cudaGetLastError();
}

int blocks_of(const auto& kernel, int threads, size_t dynamic_shared) {
  int blocks = -1;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic_shared),
            cudaSuccess);
  return blocks;
}
TEST_F(SimOccupancyTest, ByThreadsAndSharedMemory) {
  EXPECT_EQ(blocks_of(plain_kernel, 1024, 0), 2);
  EXPECT_EQ(blocks_of(plain_kernel, 256, 0), 8);
  EXPECT_EQ(blocks_of(plain_kernel, 200, 0), 9);  // as 224
  EXPECT_EQ(blocks_of(plain_kernel, 32, 0), 32);
  EXPECT_EQ(blocks_of(plain_kernel, 32, 113 << 10), 2);
  EXPECT_EQ(blocks_of(plain_kernel, 32, 114 << 10), 1);
  EXPECT_EQ(blocks_of(shared_kernel<37 << 10>, 64, 0), 6);
  EXPECT_EQ(blocks_of(shared_kernel<37 << 10>, 64, 38 << 10), 3);

  int grid = 0, threads = 0;
  ASSERT_EQ(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, plain_kernel), cudaSuccess);
  EXPECT_EQ(threads, 1024);
  EXPECT_EQ(grid, 2 * attribute(cudaDevAttrMultiProcessorCount));
  ASSERT_EQ(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, plain_kernel, 0, 700), cudaSuccess);
  EXPECT_EQ(threads, 512);  // four of these are 2048 threads, three of 672 are fewer
}

TEST_F(SimOccupancyTest, AttributesOfKernels) {
  cudaFuncAttributes has{};
  ASSERT_EQ(cudaFuncGetAttributes(&has, shared_kernel<1000>), cudaSuccess);
  EXPECT_EQ(has.sharedSizeBytes, 1000u);
  EXPECT_EQ(cudaFuncSetAttribute(shared_kernel<1000>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 100 << 10),
            cudaSuccess);
  ASSERT_EQ(cudaFuncGetAttributes(&has, shared_kernel<1000>), cudaSuccess);
  EXPECT_EQ(has.maxDynamicSharedSizeBytes, 100 << 10);
  EXPECT_EQ(
      cudaFuncSetAttribute(shared_kernel<1000>, cudaFuncAttributePreferredSharedMemoryCarveout, 50),
      cudaSuccess);
  ASSERT_EQ(cudaFuncGetAttributes(&has, shared_kernel<1000>), cudaSuccess);
  EXPECT_EQ(has.maxDynamicSharedSizeBytes, 100 << 10);
}

// --- Small functions of a thread
__global__ void small_functions_kernel(long long* out, int n) {
  const clock_t before = clock();
  __nanosleep(100);
  __builtin_assume(n > 0);
  out[0] = clock() >= before;
  out[1] = umax(threadIdx.x, 7u) + llmin(n, -3ll);
}
TEST_F(SimOccupancyTest, SmallFunctionsOfAThread) {
  const DeviceArray<long long> out(2);
  launch(small_functions_kernel, {1, 1}, out, 5);
  EXPECT_EQ(out.values(), (std::vector<long long>{1, 4}));
}

}  // namespace
}  // namespace gradus
