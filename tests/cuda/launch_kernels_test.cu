// launch() with kernels of its own: arguments, the limits of a launch, and what an error tells.
#include "gradus/cuda/kernels/hopper/odd_lines.cuh"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/fault.h"
#include "gradus/cuda/runtime/launch.h"
#include "tests/cuda/gpu_test.h"

namespace gradus::cuda {
namespace {

using LaunchKernelsTest = GpuTest;
using LaunchDeathTest = GpuTest;

template <class T>
__global__ void iota_kernel(T* out, int count, T start) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = start + static_cast<T>(i);
}

__global__ void touch_shared_kernel(int* out, int last) {
  extern __shared__ int shared[];
  shared[last] = 7;
  *out = shared[last];
}

__global__ void wild_write_kernel(int* out) { *out = 1; }

__global__ void check_index_kernel(Fault* fault, IndexRule rule, int64_t index) {
  in_range(fault, rule, index);
}

__global__ void store_pairs_kernel(uint16_t* to, int left) {
  const auto lane = static_cast<int>(threadIdx.x);
  store_pairs(to, left, static_cast<uint32_t>((2 * lane + 1) | (2 * lane + 2) << 16), lane);
}

std::vector<float> download(const Scratch& memory, int count) {
  std::vector<float> out(static_cast<size_t>(count));
  check_cuda(cudaMemcpy(out.data(), memory.data(), out.size() * 4, cudaMemcpyDeviceToHost), "test");
  return out;
}

TEST_F(LaunchKernelsTest, ConvertsArguments) {
  const Scratch memory(1000 * sizeof(float));
  launch(iota_kernel<float>, {8, 128}, memory.as<float>(), int64_t{1000}, 5);
  const std::vector<float> out = download(memory, 1000);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(out[static_cast<size_t>(i)], 5.f + static_cast<float>(i));
}

// Every length at an even and an odd place; the neighbours keep what they were.
TEST_F(LaunchKernelsTest, StoresPairsAtAnyPlace) {
  constexpr int kCount = 72;
  const Scratch memory(kCount * sizeof(uint16_t));
  for (const int start : {2, 3})
    for (int left = -64; left <= 80; ++left) {
      check_cuda(cudaMemset(memory.data(), 0xff, kCount * sizeof(uint16_t)), "test");
      launch(store_pairs_kernel, {1, 32}, memory.as<uint16_t>() + start, left);
      std::vector<uint16_t> out(kCount);
      check_cuda(cudaMemcpy(out.data(), memory.data(), kCount * 2, cudaMemcpyDeviceToHost), "test");
      for (int i = 0; i < kCount; ++i) {
        const bool stored = i >= start && i < start + std::min(left, 64);
        ASSERT_EQ(out[static_cast<size_t>(i)], stored ? i - start + 1 : 0xffff) << left << ' ' << i;
      }
    }
}

TEST_F(LaunchKernelsTest, AGridWithoutBlocksIsNothing) {
  const int64_t before = stats().kernel_launches;
  launch(wild_write_kernel, {dim3(0), dim3(1)}, nullptr);
  launch(wild_write_kernel, {dim3(1, 0), dim3(1)}, nullptr);
  synchronize();
  EXPECT_EQ(stats().kernel_launches, before);
}

TEST_F(LaunchKernelsTest, AllowsLargeSharedMemory) {
  const size_t nbytes = static_cast<size_t>(getDeviceProperties(0).shared_per_block_optin);
  const Scratch memory(sizeof(int));
  launch(touch_shared_kernel, {1, 1, nbytes}, memory.as<int>(),
         static_cast<int>(nbytes / sizeof(int)) - 1);
  synchronize();
}

TEST_F(LaunchKernelsTest, NamesTheKernelAndThePlaceOfALaunchThatFails) {
  const Scratch memory(4);
  const int64_t before = stats().kernel_launches;
  const int line = __LINE__ + 2;
  const std::string text = message_of<Error>([&] {
    launch(iota_kernel<float>, {1, 4096}, memory.as<float>(), 1, 0.f);
  });
  EXPECT_CONTAINS(text, "iota_kernel<float>");
  EXPECT_CONTAINS(text, "launch_kernels_test.cu:" + std::to_string(line));
  EXPECT_CONTAINS(text, "block (4096, 1, 1)");
  EXPECT_CONTAINS(text, "CUDA error cudaErrorInvalid");  // Value or Configuration, by the driver
  EXPECT_CONTAINS(text, "must keep to 1024 threads a block");
  EXPECT_EQ(stats().kernel_launches, before);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "forgotten";
  message_of<Error>([&] {
    launch(touch_shared_kernel, {1, 1, size_t{1} << 20}, memory.as<int>(), 0);
  });
  synchronize();
}

TEST_F(LaunchKernelsTest, ListsRecentLaunchesNewestFirst) {
  const Scratch memory(1000 * sizeof(float));
  for (unsigned i = 1; i <= 20; ++i) launch(iota_kernel<float>, {i, 32}, memory.as<float>(), 10, 0);
  const std::string text = recent_launches();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 16);
  EXPECT_CONTAINS(text.substr(0, text.find('\n')), "grid (20, 1, 1), block (32, 1, 1)");
  EXPECT_CONTAINS(text, "grid (5, 1, 1)");
  EXPECT_EQ(text.find("grid (4, 1, 1)"), std::string::npos);
}

TEST_F(LaunchKernelsTest, AFaultComesUpAtTheNextLaunchToo) {
  const IndexRule rule{"gather", 3, 10};
  launch(check_index_kernel, {4, 32}, device_fault(), rule, 12);
  check_cuda(cudaDeviceSynchronize(), "test");  // behind the library's back
  const std::string text = message_of<IndexError>([&] {
    launch(check_index_kernel, {1, 1}, device_fault(), rule, 0);
  });
  EXPECT_CONTAINS(text, "gather: index 12 is out of bounds for dimension 3 with size 10");
  launch(check_index_kernel, {1, 1}, device_fault(), rule, 9);
  EXPECT_NO_THROW(synchronize());
}

// After an invalid write of a kernel the process cannot use its device. So each test runs in a
// process of its own.
void fail_in_a_kernel() {
  try {
    const Scratch memory(1000 * sizeof(float));
    launch(wild_write_kernel, {2, 1}, reinterpret_cast<int*>(8));
    launch(iota_kernel<double>, {3, 1}, memory.as<double>(), 1, 0);
    synchronize();
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    std::exit(3);
  }
  std::exit(0);
}

TEST_F(LaunchDeathTest, AnErrorOfAKernelListsTheRecentLaunches) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fail_in_a_kernel(), testing::ExitedWithCode(3),
              "GRADUS_CUDA_BLOCKING=1 to learn which[^$]*wild_write_kernel");
}

TEST_F(LaunchDeathTest, BlockingNamesTheKernelAtFault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT((setenv("GRADUS_CUDA_BLOCKING", "1", 1), fail_in_a_kernel()),
              testing::ExitedWithCode(3), "^kernel [^\n]*wild_write_kernel");
}

}  // namespace
}  // namespace gradus::cuda
