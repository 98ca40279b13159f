// Shared memory: static and dynamic arrays, of several kernels, types and names.
#include <cuda_fp16.h>

#include <algorithm>

#include "tests/sim/sim_test.h"

namespace gradus {

// Dynamic shared memory in kernels that other files may see.
__global__ void reverse_floats_kernel(const float* x, float* out) {
  extern __shared__ float turned[];
  turned[blockDim.x - 1 - threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = turned[threadIdx.x];
}

// At file scope, static and not.
__shared__ int of_the_file[32];
static __shared__ double also_of_the_file;

namespace {

using SimSharedTest = SimTest;

// The same under another type, another name, and the same name.
__global__ void reverse_doubles_kernel(const double* x, double* out) {
  extern __shared__ double backwards[];
  backwards[blockDim.x - 1 - threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = backwards[threadIdx.x];
}
__global__ void rotate_floats_kernel(const float* x, float* out) {
  extern __shared__ float turned[];
  turned[(threadIdx.x + 1) % blockDim.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = turned[threadIdx.x];
}
template <class T>
__global__ void reverse_kernel(const T* x, T* out) {
  extern __shared__ __align__(16) unsigned char buffer[];
  T* const turned = reinterpret_cast<T*>(buffer);
  turned[blockDim.x - 1 - threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = turned[threadIdx.x];
}

template <class T>
std::vector<T> numbers(int count) {
  std::vector<T> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<T>(i));
  return out;
}

template <class T>
std::vector<T> run(void (*kernel)(const T*, T*), unsigned threads) {
  const DeviceArray<T> x(numbers<T>(static_cast<int>(threads))), out(threads);
  launch(kernel, {1, threads, threads * sizeof(T)}, x, out);
  return out.values();
}

template <class T>
void expect_reversed(void (*kernel)(const T*, T*), unsigned threads) {
  std::vector<T> expected = numbers<T>(static_cast<int>(threads));
  std::reverse(expected.begin(), expected.end());
  EXPECT_EQ(run(kernel, threads), expected);
}

TEST_F(SimSharedTest, DynamicArraysOfAnyTypeAndName) {
  for (const unsigned threads : {1u, 33u, 128u, 1024u}) {
    expect_reversed(reverse_floats_kernel, threads);
    expect_reversed(reverse_doubles_kernel, threads);
    expect_reversed(reverse_kernel<short>, threads);
    expect_reversed(reverse_kernel<double>, threads);
  }
  EXPECT_EQ(run(rotate_floats_kernel, 4), (std::vector<float>{3, 0, 1, 2}));
}

// Several static arrays, of several types, and one structure; each its own memory.
struct Cell {
  char tag;
  double value;
};
__global__ void several_arrays_kernel(double* out) {
  __shared__ float floats[64];
  __shared__ unsigned char bytes[64];
  __shared__ Cell cells[8][8];
  __shared__ int count;
  extern __shared__ float dynamic[];
  const unsigned t = threadIdx.x;
  floats[t] = static_cast<float>(t);
  bytes[t] = static_cast<unsigned char>(2 * t);
  cells[t / 8][t % 8] = {static_cast<char>(t), 3.0 * t};
  dynamic[t] = 4.f * static_cast<float>(t);
  if (t == 0) count = 1000;
  __syncthreads();
  const unsigned other = 63 - t;
  out[t] = static_cast<double>(floats[other] + dynamic[other]) + bytes[other] +
           cells[other / 8][other % 8].value + cells[t / 8][t % 8].tag + count;
}

TEST_F(SimSharedTest, SeveralArraysOfOneKernel) {
  const DeviceArray<double> out(64);
  launch(several_arrays_kernel, {1, 64, 64 * sizeof(float)}, out);
  const std::vector<double> got = out.values();
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(got[static_cast<size_t>(t)], (1 + 4 + 2 + 3) * (63 - t) + t + 1000);
}

// One array for each instance of a template.
template <int kSize>
__global__ void instance_kernel(int* out) {
  __shared__ int values[kSize];
  if (threadIdx.x == 0)
    for (int i = 0; i < kSize; ++i) values[i] = i;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < kSize; ++i) sum += values[i];
  out[threadIdx.x] = sum;
}

TEST_F(SimSharedTest, EachInstanceOfATemplateHasItsOwn) {
  const DeviceArray<int> small(32), large(32);
  launch(instance_kernel<3>, {1, 32}, small);
  launch(instance_kernel<100>, {1, 32}, large);
  EXPECT_EQ(small.values(), std::vector<int>(32, 3));
  EXPECT_EQ(large.values(), std::vector<int>(32, 4950));
}

// A device function's array, which every call of the block shares.
__device__ float* shared_of_a_function() {
  __shared__ float slots[32];
  return slots;
}
__global__ void through_a_function_kernel(float* out) {
  shared_of_a_function()[threadIdx.x] = static_cast<float>(threadIdx.x + blockIdx.x);
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = shared_of_a_function()[31 - threadIdx.x];
}

TEST_F(SimSharedTest, AnArrayOfADeviceFunction) {
  const DeviceArray<float> out(64);
  launch(through_a_function_kernel, {2, 32}, out);
  const std::vector<float> got = out.values();
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], static_cast<float>(31 - i % 32 + i / 32));
}

__device__ int neighbour_of_the_file() { return of_the_file[threadIdx.x ^ 1]; }
__global__ void of_the_file_kernel(int* out) {
  of_the_file[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (threadIdx.x == 0) also_of_the_file = 0.5;
  __syncthreads();
  out[threadIdx.x] = neighbour_of_the_file() + static_cast<int>(2 * also_of_the_file);
}

TEST_F(SimSharedTest, ArraysAtFileScope) {
  const DeviceArray<int> out(32);
  launch(of_the_file_kernel, {1, 32}, out);
  const std::vector<int> got = out.values();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], (i ^ 1) + 1);
}

// Aligned by each of the ways to say so.
__global__ void aligned_kernel(uintptr_t* out) {
  alignas(64) __shared__ char first[3];
  __shared__ __align__(128) char second[3];
  __align__(32) __shared__ char third[3];
  first[0] = second[0] = third[0] = 1;
  out[0] = reinterpret_cast<uintptr_t>(first) % 64;
  out[1] = reinterpret_cast<uintptr_t>(second) % 128;
  out[2] = reinterpret_cast<uintptr_t>(third) % 32;
}

TEST_F(SimSharedTest, AreAligned) {
  const DeviceArray<uintptr_t> out(3);
  launch(aligned_kernel, {1, 1}, out);
  EXPECT_EQ(out.values(), std::vector<uintptr_t>(3, 0));
}

// Each block begins with its own memory: no value comes from another block.
__global__ void own_memory_kernel(int* out) {
  __shared__ int mine;
  if (threadIdx.x == 0) mine = static_cast<int>(blockIdx.x);
  __syncthreads();
  atomicAdd(&mine, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = mine;
}

TEST_F(SimSharedTest, EachBlockHasItsOwn) {
  constexpr int blocks = 500;
  const DeviceArray<int> out(blocks);
  launch(own_memory_kernel, {blocks, 40}, out);
  const std::vector<int> got = out.values();
  for (int b = 0; b < blocks; ++b) EXPECT_EQ(got[static_cast<size_t>(b)], b + 40);
}

// As much as a chip has, dynamic; and the most of static arrays.
__global__ void all_of_it_kernel(int* out, int last) {
  extern __shared__ int words[];
  words[last] = 7;
  words[0] = 5;
  *out = words[last] + words[0];
}
__global__ void static_48k_kernel(int* out) {
  __shared__ int words[12288];
  for (unsigned i = threadIdx.x; i < 12288; i += 64) words[i] = static_cast<int>(i);
  __syncthreads();
  out[threadIdx.x] = words[12287 - threadIdx.x];
}

TEST_F(SimSharedTest, AsMuchAsAChipHas) {
  const DeviceArray<int> out(64);
  constexpr int kBytes = 227 << 10;
  launch(all_of_it_kernel, {1, 1, kBytes}, out, kBytes / 4 - 1);
  EXPECT_EQ(out.values()[0], 12);
  launch(static_48k_kernel, {1, 64}, out);
  EXPECT_EQ(out.values()[5], 12282);
}

// --- More than a chip has
template <int kBytes>
__global__ void static_kernel(char* out, int last) {
  __shared__ char bytes[kBytes];
  extern __shared__ char more[];
  for (int i = 0; i <= last; ++i) bytes[i] = more[i] = 1;
  *out = bytes[last] + more[last];
}

TEST_F(SimSharedTest, StaticAndDynamicArraysShareTheLimit) {
  const DeviceArray<char> out(1);
  constexpr int kStatic = 40 << 10, kLeft = 8 << 10, kMost = (227 - 40) << 10;
  const auto kernel = reinterpret_cast<const void*>(static_kernel<kStatic>);
  const auto launch_unasked = [&](size_t nbytes) {
    char* data = out;
    int last = 99;
    void* args[] = {&data, &last};
    return cudaLaunchKernel(kernel, 1, 1, args, nbytes, nullptr);
  };
  launch(static_kernel<kStatic>, {1, 1, kLeft}, out, 99);
  EXPECT_EQ(out.values()[0], 2);
  EXPECT_EQ(launch_unasked(kLeft), cudaSuccess);
  EXPECT_EQ(launch_unasked(kLeft + 1), cudaErrorInvalidValue);
  cudaGetLastError();
  std::vector<cuda::sim::Finding> found = cuda::sim::take_findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, cuda::sim::Kind::launch);
  EXPECT_EQ(found[0].message,
            "8193 bytes of dynamic shared memory; the kernel may use 8192, and up to 191488 with "
            "cudaFuncAttributeMaxDynamicSharedMemorySize, beside its 40960 static ones");
  launch(static_kernel<kStatic>, {1, 1, kLeft + 1}, out, 99);  // asks for it
  launch(static_kernel<kStatic>, {1, 1, kMost}, out, 99);
  launch(static_kernel<kStatic>, {1, 1, kLeft + 1}, out, 99);
  EXPECT_EQ(launch_unasked(kMost), cudaSuccess);  // the limit has only grown
  EXPECT_EQ(out.values()[0], 2);
  EXPECT_THROW(launch(static_kernel<kStatic>, {1, 1, kMost + 1}, out, 99), Error);
  EXPECT_EQ(cuda::sim::take_findings().size(), 1u);
}

// GCC keeps a byte beside such an array, which no thread of a kernel may notice.
__global__ void halves_kernel(float* out) {
  __shared__ __half kept[64];
  alignas(16) __shared__ __half also[64];
  kept[threadIdx.x] = __float2half(static_cast<float>(threadIdx.x));
  also[threadIdx.x] = __float2half(1.f);
  __syncthreads();
  out[threadIdx.x] = __half2float(kept[63 - threadIdx.x] + also[threadIdx.x / 2]);
}

TEST_F(SimSharedTest, ArraysOfHalves) {
  const DeviceArray<float> out(64);
  const cuda::sim::LaunchCounts counts = counts_of([&] { launch(halves_kernel, {1, 64}, out); });
  EXPECT_EQ(out.values()[0], 64);
  EXPECT_EQ(counts.counts.shared_stores, 2 * 64);
  EXPECT_EQ(counts.counts.shared_loads, 2 * 64);
}

#ifdef GRADUS_SIMULATED  // nvcc does not compile it
TEST_F(SimSharedTest, StaticArraysOfMoreThan48K) {
  const DeviceArray<char> out(1);
  EXPECT_THROW(launch(static_kernel<(48 << 10) + 1>, {1, 1}, out, 99), Error);
  const std::vector<cuda::sim::Finding> found = cuda::sim::take_findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(
      found[0].message,
      "49153 bytes of static shared memory; nvcc compiles no more than 49152: make it dynamic");
}
#endif

}  // namespace
}  // namespace gradus
