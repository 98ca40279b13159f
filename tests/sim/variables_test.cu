// Variables of the program that kernels use by name: __device__ and __constant__.
#include "tests/sim/sim_test.h"

namespace gradus {

using cuda::sim::Finding;
using cuda::sim::Kind;
using cuda::sim::take_findings;

__device__ unsigned tickets = 0;  // neither static nor in an unnamed namespace

namespace {

using SimVariablesTest = SimTest;
using SimVariablesFindingsTest = SimFindingsTest;

__device__ float table[256];
static __device__ int with_values[4] = {1, 2, 3, 4};
__device__ const int fixed[3] = {7, 8, 9};
template <class T>
__device__ T scale = 3;
__constant__ int weights[4];
__constant__ const int fixed_weights[2] = {5, 6};

__global__ void reads_kernel(int* out) {
  out[0] = with_values[2];
  out[1] = fixed[threadIdx.x + 1];
  out[2] = scale<int>;
  out[3] = weights[threadIdx.x + 3];
  out[4] = fixed_weights[threadIdx.x + 1];
  out[5] = static_cast<int>(table[threadIdx.x + 17]);
}

TEST_F(SimVariablesTest, KernelsReadThem) {
  const int values[4] = {10, 20, 30, 40};
  ASSERT_EQ(cudaMemcpyToSymbol(weights, values, sizeof values), cudaSuccess);
  const float of_table = 99;
  ASSERT_EQ(cudaMemcpyToSymbol(table, &of_table, 4, 17 * 4), cudaSuccess);
  const DeviceArray<int> out(6);
  launch(reads_kernel, {1, 1}, out);
  EXPECT_EQ(out.values(), (std::vector<int>{3, 8, 3, 40, 6, 99}));
}

__global__ void writes_kernel() {
  const int calls_before = [] {
    static __device__ int calls;
    return calls++;
  }();
  table[200] = static_cast<float>(calls_before);
}
TEST_F(SimVariablesTest, KernelsWriteThem) {
  for (int i = 0; i < 3; ++i) launch(writes_kernel, {1, 1});
  float got = 0;
  ASSERT_EQ(cudaMemcpyFromSymbol(&got, table, 4, 200 * 4), cudaSuccess);
  EXPECT_EQ(got, 2);
}

// The last block of a grid to arrive sums what all have left: the fence and the counter order it.
__device__ int partial[64];
__global__ void last_block_kernel(int* sum) {
  partial[blockIdx.x] = static_cast<int>(blockIdx.x);
  __threadfence();
  if (atomicAdd(&tickets, 1u) != gridDim.x - 1) return;
  __threadfence();
  for (unsigned i = 0; i < gridDim.x; ++i) *sum += partial[i];
}
TEST_F(SimVariablesTest, ACounterOrdersBlocks) {
  const DeviceArray<int> sum(1, 0);
  launch(last_block_kernel, {64, 1}, sum);
  EXPECT_EQ(sum.values()[0], 63 * 64 / 2);
}

__global__ void double_kernel(float* data, int n) {
  for (int i = 0; i < n; ++i) data[i] *= 2;
}
TEST_F(SimVariablesTest, HaveAnAddressAndASize) {
  void* address = nullptr;
  size_t size = 0;
  ASSERT_EQ(cudaGetSymbolAddress(&address, table), cudaSuccess);
  ASSERT_EQ(cudaGetSymbolSize(&size, table), cudaSuccess);
  EXPECT_EQ(size, 1024u);
  const std::vector<float> ones(256, 1), twos(256, 2);
  std::vector<float> got(256);
  ASSERT_EQ(cudaMemcpy(address, ones.data(), 1024, cudaMemcpyHostToDevice), cudaSuccess);
  launch(double_kernel, {1, 1}, static_cast<float*>(address), 256);
  ASSERT_EQ(cudaMemcpy(got.data(), address, 1024, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(got, twos);
  ASSERT_EQ(cudaMemset(address, 0, 1024), cudaSuccess);
  EXPECT_EQ(cudaMemset(address, 0, 1025), cudaErrorInvalidValue);
  ASSERT_EQ(cudaMemcpyFromSymbol(got.data(), table, 1024), cudaSuccess);
  EXPECT_EQ(got, std::vector<float>(256, 0));
}

float of_the_host[3] = {1, 2, 3};
TEST_F(SimVariablesTest, OfTheHostAreCopiedAsBefore) {
  const DeviceArray<float> out(3);
  ASSERT_EQ(cudaMemcpy(out, of_the_host, 12, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(out.values(), (std::vector<float>{1, 2, 3}));
}

TEST_F(SimVariablesTest, CopiesTakeADirectionAndAStream) {
  const DeviceArray<int> four(std::vector<int>{4, 3, 2, 1});
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  int got[4] = {};
  ASSERT_EQ(cudaMemcpyToSymbolAsync(with_values, four, 16, 0, cudaMemcpyDeviceToDevice, stream),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromSymbolAsync(got, with_values, 8, 8, cudaMemcpyDeviceToHost, stream),
            cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(got[0], 2);
  EXPECT_EQ(got[1], 1);
  const int before[4] = {1, 2, 3, 4};
  ASSERT_EQ(cudaMemcpyToSymbol(with_values, before, 16, 0, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(with_values, before, 16, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyToSymbol(with_values, before, 16, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  cudaGetLastError();
}

// --- What is found
__device__ float lonely[4096];
__global__ void past_kernel(int n) { (&lonely[0])[n] = 1; }
TEST_F(SimVariablesFindingsTest, AnAccessPastTheEnd) {
  launch(past_kernel, {1, 1}, 4095);
  ASSERT_TRUE(take_findings().empty());
  launch(past_kernel, {1, 1}, 1 << 24);
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Kind::foreign_memory);
}

// Between the two, if they are neighbours, or else behind the second.
__device__ __align__(64) char narrow[3], neighbour[3];
__global__ void between_kernel() {
  char* const first = &narrow[0] < &neighbour[0] ? narrow : neighbour;
  first[4] = 1;
}
TEST_F(SimVariablesFindingsTest, AnAccessBetweenTwo) {
  launch(between_kernel, {1, 1});
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Kind::out_of_bounds);
  EXPECT_NE(found[0].message.find("1 bytes after the end of n"), std::string::npos)
      << found[0].message;
}

__global__ void race_kernel() { table[0] = static_cast<float>(threadIdx.x); }
TEST_F(SimVariablesFindingsTest, ARace) {
  launch(race_kernel, {1, 2});
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, Kind::race);
}

__global__ void misaligned_kernel(int offset) {
  *reinterpret_cast<int*>(reinterpret_cast<char*>(table) + offset) = 1;
}
TEST_F(SimVariablesFindingsTest, AMisalignedAccess) {
  launch(misaligned_kernel, {1, 1}, 2);
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, Kind::misaligned);
}

__global__ void write_constant_kernel(int* where) { *where = 1; }
TEST_F(SimVariablesFindingsTest, AWriteToAConstant) {
  void* address = nullptr;
  ASSERT_EQ(cudaGetSymbolAddress(&address, weights), cudaSuccess);
  launch(write_constant_kernel, {1, 1}, static_cast<int*>(address));
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, Kind::foreign_memory);
}

}  // namespace
}  // namespace gradus
