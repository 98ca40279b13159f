// Blocks and grids: every thread once, barriers, local and constant memory, and what a kernel may
// be and be given.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using SimBlockTest = SimTest;

__device__ int global_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

std::vector<int> iota(int count) {
  std::vector<int> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

struct Place {
  uint3 thread, block;
  dim3 block_size, grid_size;
};
__global__ void places_kernel(Place* out, int* count) {
  out[atomicAdd(count, 1)] = {threadIdx, blockIdx, blockDim, gridDim};
}

TEST_F(SimBlockTest, EachThreadOfAGridInThreeDimensionsRunsOnce) {
  const dim3 grid(3, 2, 4), block(5, 3, 2);
  constexpr size_t threads = 3 * 2 * 4 * 5 * 3 * 2;
  const DeviceArray<Place> out(threads);
  const DeviceArray<int> count(1, 0);
  launch(places_kernel, {grid, block}, out, count);
  ASSERT_EQ(count.values()[0], static_cast<int>(threads));
  using Indices = std::tuple<unsigned, unsigned, unsigned, unsigned, unsigned, unsigned>;
  std::vector<Indices> got, expected;
  for (const Place& p : out.values()) {
    got.emplace_back(p.block.z, p.block.y, p.block.x, p.thread.z, p.thread.y, p.thread.x);
    EXPECT_EQ(std::tie(p.block_size.x, p.block_size.y, p.block_size.z),
              std::tie(block.x, block.y, block.z));
    EXPECT_EQ(std::tie(p.grid_size.x, p.grid_size.y, p.grid_size.z),
              std::tie(grid.x, grid.y, grid.z));
  }
  std::sort(got.begin(), got.end());
  for (unsigned bz = 0; bz < 4; ++bz)
    for (unsigned by = 0; by < 2; ++by)
      for (unsigned bx = 0; bx < 3; ++bx)
        for (unsigned tz = 0; tz < 2; ++tz)
          for (unsigned ty = 0; ty < 3; ++ty)
            for (unsigned tx = 0; tx < 5; ++tx) expected.emplace_back(bz, by, bx, tz, ty, tx);
  EXPECT_EQ(got, expected);
}

// Warps are of threads with x fastest, then y, then z.
__global__ void lane_of_kernel(unsigned* out) {
  const unsigned linear = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[linear] = __shfl_sync(0xffffffffu, linear, 5);
}

TEST_F(SimBlockTest, WarpsCountThreadsWithXFastest) {
  const DeviceArray<unsigned> out(64);
  launch(lane_of_kernel, {1, dim3(4, 4, 4)}, out);
  const std::vector<unsigned> got = out.values();
  for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(got[t], t / 32 * 32 + 5);
}

__global__ void __launch_bounds__(1024) scan_kernel(const int* __restrict__ x, int* out) {
  __shared__ int sums[2][1024];
  const unsigned t = threadIdx.x;
  unsigned from = 0;
  sums[from][t] = x[t];
  for (unsigned reach = 1; reach < blockDim.x; reach *= 2, from ^= 1) {
    __syncthreads();
    sums[from ^ 1][t] = sums[from][t] + (t >= reach ? sums[from][t - reach] : 0);
  }
  out[t] = sums[from][t];
}

TEST_F(SimBlockTest, BarriersInALoop) {
  for (const int n : {1, 31, 64, 1000, 1024}) {
    const DeviceArray<int> x(iota(n)), out(static_cast<size_t>(n));
    launch(scan_kernel, {1, static_cast<unsigned>(n)}, x, out);
    const std::vector<int> got = out.values();
    for (int i = 0; i < n; ++i) ASSERT_EQ(got[static_cast<size_t>(i)], i * (i + 1) / 2);
  }
}

// A block adds 64 numbers, on any worker.
__global__ void sum_of_64_kernel(const int* x, int* out) {
  __shared__ volatile int sums[64];
  const unsigned t = threadIdx.x;
  sums[t] = x[global_index()];
  __syncthreads();
  for (unsigned reach = 32; reach > 0; reach /= 2) {
    if (t < reach) sums[t] = sums[t] + sums[t + reach];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

TEST_F(SimBlockTest, ManyBlocksOverAllWorkers) {
  constexpr int blocks = 2000;
  const DeviceArray<int> x(iota(64 * blocks)), out(blocks);
  launch(sum_of_64_kernel, {blocks, 64}, x, out);
  const std::vector<int> got = out.values();
  for (int b = 0; b < blocks; ++b)
    ASSERT_EQ(got[static_cast<size_t>(b)], 64 * 64 * b + 63 * 64 / 2) << "block " << b;
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursion_kernel(int* out) {
  out[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x));
}

TEST_F(SimBlockTest, Recursion) {
  const DeviceArray<int> out(16);
  launch(recursion_kernel, {1, 16}, out);
  EXPECT_EQ(out.values(),
            (std::vector<int>{0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610}));
}

// A local array that lives across a barrier.
__global__ void local_array_kernel(const int* x, int* out, int n) {
  int mine[64];
  for (int i = 0; i < n; ++i) {
    int at = i;
    for (; at > 0 && mine[at - 1] > x[i * 40 + global_index()]; --at) mine[at] = mine[at - 1];
    mine[at] = x[i * 40 + global_index()];
  }
  __syncthreads();
  for (int i = 0; i < n; ++i) out[i * 40 + global_index()] = mine[i];
}

TEST_F(SimBlockTest, LocalArrays) {
  std::vector<int> x(64 * 40), expected;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * 2654435761u >> 7 & 1023);
  const DeviceArray<int> from(x), out(x.size());
  launch(local_array_kernel, {2, 20}, from, out, 64);
  const std::vector<int> got = out.values();
  for (size_t column = 0; column < 40; ++column) {
    std::vector<int> sorted;
    for (size_t i = 0; i < 64; ++i) sorted.push_back(x[i * 40 + column]);
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < 64; ++i) ASSERT_EQ(got[i * 40 + column], sorted[i]);
  }
}

struct Large {
  float weights[500];
  const int* index;
  char last;
};
__global__ void large_argument_kernel(const __grid_constant__ Large large, float* out, char* last) {
  out[global_index()] = large.weights[large.index[global_index()]];
  if (global_index() == 0) *last = large.last;
}

TEST_F(SimBlockTest, ALargeStructAsAnArgument) {
  Large large{};
  for (int i = 0; i < 500; ++i) large.weights[i] = 0.5f * static_cast<float>(i);
  large.last = 'z';
  std::vector<int> index = iota(128);
  for (int& each : index) each = 499 - 3 * each;
  const DeviceArray<int> on_device(index);
  large.index = on_device;
  const DeviceArray<float> out(128);
  const DeviceArray<char> last(1);
  launch(large_argument_kernel, {2, 64}, large, out, last);
  const std::vector<float> got = out.values();
  for (size_t i = 0; i < 128; ++i) EXPECT_EQ(got[i], 0.5f * static_cast<float>(index[i]));
  EXPECT_EQ(last.values()[0], 'z');
}

template <class F>
__global__ void map_kernel(const int* x, int* out, F f) {
  out[global_index()] = f(x[global_index()]);
}
struct Plus {
  int term;
  __device__ int operator()(int x) const { return x + term; }
};

TEST_F(SimBlockTest, FunctorsAndLambdas) {
  const DeviceArray<int> x(iota(64)), sums(64), others(64);
  launch(map_kernel<Plus>, {2, 32}, x, sums, Plus{1000});
  const auto lambda = [x = static_cast<int*>(x), factor = 7] __device__(int i) {
    return factor * i + x[63 - i];
  };
  launch(map_kernel<decltype(lambda)>, {2, 32}, x, others, lambda);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(sums.values()[static_cast<size_t>(i)], i + 1000);
    EXPECT_EQ(others.values()[static_cast<size_t>(i)], 7 * i + 63 - i);
  }
}

template <class T>
__global__ void axpy_kernel(T a, const T* x, T* y) {
  y[global_index()] = a * x[global_index()] + y[global_index()];
}
template <class T>
void expect_axpy() {
  std::vector<T> x, y;
  for (int i = 0; i < 64; ++i) x.push_back(T(static_cast<float>(i) / 8)), y.push_back(T(1.5f));
  const DeviceArray<T> from(x), to(y);
  launch(axpy_kernel<T>, {2, 32}, T(0.25f), from, to);
  const std::vector<T> got = to.values();
  for (int i = 0; i < 64; ++i)  // in 8 digits of mantissa all of these are exact
    EXPECT_EQ(static_cast<float>(got[static_cast<size_t>(i)]), static_cast<float>(i) / 32 + 1.5f);
}

TEST_F(SimBlockTest, NumbersOf16Bits) {
  expect_axpy<half>();
  expect_axpy<__nv_bfloat16>();
}

__constant__ float constant_table[8];
__constant__ int constant_offset = 3;
constexpr int kSquares[] = {0, 1, 4, 9, 16, 25, 36, 49};
__global__ void constant_kernel(float* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = constant_table[(i + constant_offset) % 8] + static_cast<float>(kSquares[i]);
}

TEST_F(SimBlockTest, ConstantMemory) {
  const std::vector<float> table = {10, 20, 30, 40, 50, 60, 70, 80};
  ASSERT_EQ(cudaMemcpyToSymbol(constant_table, table.data(), 8 * sizeof(float)), cudaSuccess);
  const float first = 15;
  ASSERT_EQ(cudaMemcpyToSymbol(constant_table, &first, sizeof first, 7 * sizeof(float)),
            cudaSuccess);
  const DeviceArray<float> out(8);
  launch(constant_kernel, {1, 8}, out);
  EXPECT_EQ(out.values(), (std::vector<float>{40, 51, 64, 79, 31, 35, 56, 79}));
  EXPECT_EQ(cudaMemcpyToSymbol(constant_table, table.data(), 9 * sizeof(float)),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(constant_table, table.data(), 8 * sizeof(float), 4),
            cudaErrorInvalidValue);
  cudaGetLastError();
}

__global__ void write_constant_kernel(unsigned at) {
  const float* const table = constant_table;
  const_cast<float*>(table)[at] = 1;
}

TEST_F(SimBlockTest, ConstantMemoryIsNotForKernelsToWrite) {
  if (!cuda::sim::checks()) GTEST_SKIP() << "GRADUS_SIM_CHECK=0: the simulator does not check";
  launch(write_constant_kernel, {1, 1}, 2u);
  const std::vector<cuda::sim::Finding> found = cuda::sim::take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_CONTAINS(found[0].message, "the address is of constant memory, which kernels only read");
}

}  // namespace
}  // namespace gradus
