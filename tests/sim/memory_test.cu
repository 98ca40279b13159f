// Memory of the simulated runtime: allocating, freeing, copying and setting it.
#include <cstring>

#include "tests/sim/runtime_test.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;

using SimMemoryTest = SimRuntimeTest;

__global__ void copy_numbers_kernel(const int* x, int* out) { out[threadIdx.x] = x[threadIdx.x]; }

TEST_F(SimMemoryTest, TakesAndGivesBack) {
  size_t before = 0, after = 0, total = 0;
  expect_status(cudaMemGetInfo(&before, &total), cudaSuccess);
  EXPECT_LE(before, total);
  char *x = nullptr, *y = nullptr;
  expect_status(cudaMalloc(&x, 1000), cudaSuccess);
  expect_status(cudaMalloc(&y, 1), cudaSuccess);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x) % 256, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(y) % 256, 0u);
  cudaMemGetInfo(&after, &total);
  EXPECT_EQ(before - after, 1001u);
  expect_status(cudaFree(x), cudaSuccess);
  expect_status(cudaFree(y), cudaSuccess);
  cudaMemGetInfo(&after, &total);
  EXPECT_EQ(after, before);
  expect_status(cudaMalloc(&x, 0), cudaSuccess);
  EXPECT_EQ(x, nullptr);
  expect_status(cudaFree(nullptr), cudaSuccess);
  expect_status(cudaFreeHost(nullptr), cudaSuccess);
}

TEST_F(SimMemoryTest, ADeviceCanBeFull) {
  size_t available = 0, total = 0;
  cudaMemGetInfo(&available, &total);
  char *all = nullptr, *more = nullptr;
  for (const size_t nbytes : {available + 1, total + 1, SIZE_MAX, SIZE_MAX - 511})
    expect_status(cudaMalloc(&all, nbytes), cudaErrorMemoryAllocation);
  expect_status(cudaMalloc(&all, available), cudaSuccess);
  expect_status(cudaMalloc(&more, 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(more, nullptr);
  expect_status(cudaFree(all), cudaSuccess);
  expect_status(cudaMalloc(&more, 1), cudaSuccess);
  expect_status(cudaFree(more), cudaSuccess);
}

TEST_F(SimMemoryTest, RefusesWhatItCannotTakeBack) {
  char *x = nullptr, *pinned = nullptr, local = 0;
  expect_status(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
  expect_status(cudaMallocHost(nullptr, 4), cudaErrorInvalidValue);
  ASSERT_EQ(cudaMalloc(&x, 16), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(&pinned, 16, cudaHostAllocPortable), cudaSuccess);
  for (void* wrong : {static_cast<void*>(&local), static_cast<void*>(x + 1),
                      static_cast<void*>(x + 4096), static_cast<void*>(pinned)})
    expect_status(cudaFree(wrong), cudaErrorInvalidValue);
  for (void* wrong :
       {static_cast<void*>(&local), static_cast<void*>(pinned + 1), static_cast<void*>(x)})
    expect_status(cudaFreeHost(wrong), cudaErrorInvalidValue);
  expect_status(cudaFree(x), cudaSuccess);
  expect_status(cudaFreeHost(pinned), cudaSuccess);
  expect_status(cudaFree(x), cudaErrorInvalidValue);  // twice
  expect_status(cudaFreeHost(pinned), cudaErrorInvalidValue);
}

TEST_F(SimMemoryTest, TellsWhoOwnsAnAddress) {
  const DeviceArray<int> x(4);
  int local = 0;
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 16), cudaSuccess);
  cudaPointerAttributes found{};
  const auto look = [&](const void* address) {
    expect_status(cudaPointerGetAttributes(&found, address), cudaSuccess);
    return found.type;
  };
  EXPECT_EQ(look(x + 3), cudaMemoryTypeDevice);
  EXPECT_EQ(found.device, 0);
  EXPECT_EQ(found.devicePointer, x + 3);
  EXPECT_EQ(look(pinned), cudaMemoryTypeHost);
  EXPECT_EQ(found.hostPointer, pinned);
  EXPECT_EQ(found.devicePointer, pinned);
  EXPECT_EQ(look(&local), cudaMemoryTypeUnregistered);
  EXPECT_EQ(look(x + 4), cudaMemoryTypeUnregistered) << "right after the end";
  cudaFreeHost(pinned);
  EXPECT_EQ(look(pinned), cudaMemoryTypeUnregistered);
}

TEST_F(SimMemoryTest, CopiesWhatTheDirectionSays) {
  const DeviceArray<int> x(std::vector<int>{1, 2}), out(2, 0);
  std::vector<int> from{5, 6}, to{0, 0};
  const auto copy = [](void* target, const void* source, cudaMemcpyKind kind) {
    const cudaError_t status = cudaMemcpy(target, source, 8, kind);
    EXPECT_EQ(cudaGetLastError(), status);
    return status;
  };
  for (const cudaMemcpyKind kind : {cudaMemcpyHostToHost, cudaMemcpyHostToDevice,
                                    cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice}) {
    const auto wanted = [&](cudaMemcpyKind right) {
      return kind == right ? cudaSuccess : cudaErrorInvalidValue;
    };
    EXPECT_EQ(copy(to.data(), from.data(), kind), wanted(cudaMemcpyHostToHost));
    EXPECT_EQ(copy(x, from.data(), kind), wanted(cudaMemcpyHostToDevice));
    EXPECT_EQ(copy(to.data(), x, kind), wanted(cudaMemcpyDeviceToHost));
    EXPECT_EQ(copy(out, x, kind), wanted(cudaMemcpyDeviceToDevice));
  }
  EXPECT_EQ(x.values(), from);
  EXPECT_EQ(out.values(), from);
  EXPECT_EQ(copy(out, to.data(), static_cast<cudaMemcpyKind>(7)), cudaErrorInvalidMemcpyDirection);
  from = {7, 8};
  expect_status(cudaMemcpy(x, from.data(), 8, cudaMemcpyDefault), cudaSuccess);
  expect_status(cudaMemcpy(to.data(), x, 8, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(to, from);
}

TEST_F(SimMemoryTest, CopiesAndSetsWhatIsAllocatedAlone) {
  const DeviceArray<char> x(10, 'x');
  std::vector<char> host(20, 'h');
  char* freed = nullptr;
  ASSERT_EQ(cudaMalloc(&freed, 10), cudaSuccess);
  ASSERT_EQ(cudaFree(freed), cudaSuccess);
  const auto into = [&](void* to, size_t nbytes) {
    return cudaMemcpy(to, host.data(), nbytes, cudaMemcpyHostToDevice);
  };
  const auto out_of = [&](const void* from, size_t nbytes) {
    return cudaMemcpy(host.data(), from, nbytes, cudaMemcpyDeviceToHost);
  };
  const cudaError_t refused[] = {into(x, 11),
                                 into(x + 1, 10),
                                 into(x + 10, 1),
                                 into(x - 1, 2),
                                 into(freed, 10),
                                 into(x, SIZE_MAX),
                                 into(nullptr, 4),
                                 out_of(x, 11),
                                 out_of(x + 1, 10),
                                 out_of(x - 1, 2),
                                 out_of(freed, 10),
                                 out_of(nullptr, 4),
                                 cudaMemcpy(x, nullptr, 4, cudaMemcpyHostToDevice),
                                 cudaMemcpy(nullptr, x, 4, cudaMemcpyDefault),
                                 cudaMemset(x, 0, 11),
                                 cudaMemset(x + 1, 0, 10),
                                 cudaMemset(freed, 0, 1),
                                 cudaMemset(nullptr, 0, 1),
                                 cudaMemset(host.data(), 0, 1)};
  for (size_t i = 0; i < std::size(refused); ++i)
    EXPECT_EQ(refused[i], cudaErrorInvalidValue) << "call " << i;
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(x.values(), std::vector<char>(10, 'x')) << "nothing changed";
  EXPECT_EQ(host, std::vector<char>(20, 'h'));
  // A size of 0 is no mistake.
  expect_status(into(nullptr, 0), cudaSuccess);
  expect_status(into(x + 10, 0), cudaSuccess);
  expect_status(cudaMemset(nullptr, 0, 0), cudaSuccess);
  // All of them.
  expect_status(into(x, 10), cudaSuccess);
  expect_status(out_of(x + 9, 1), cudaSuccess);
  EXPECT_EQ(x.values(), std::vector<char>(10, 'h'));
}

TEST_F(SimMemoryTest, SetsBytes) {
  for (const size_t size : {1, 3, 4, 511, 512, 4097, 1000003}) {
    const DeviceArray<unsigned char> x(size + 2, 1);
    expect_status(cudaMemset(x + 1, 0x1ab, size), cudaSuccess);  // the low byte counts
    std::vector<unsigned char> expected(size + 2, 0xab);
    expected.front() = expected.back() = 1;
    EXPECT_EQ(x.values(), expected);
    expect_status(cudaMemsetAsync(x, 2, size + 2), cudaSuccess);
    EXPECT_EQ(x.values(), std::vector<unsigned char>(size + 2, 2));
  }
}

TEST_F(SimMemoryTest, PageLockedMemoryIsSharedWithKernels) {
  int *x = nullptr, *out = nullptr;
  ASSERT_EQ(cudaHostAlloc(&x, 32 * sizeof(int), cudaHostAllocDefault), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(&out, 32 * sizeof(int), cudaHostAllocDefault), cudaSuccess);
  for (int i = 0; i < 32; ++i) x[i] = 3 * i;
  launch(copy_numbers_kernel, {1, 32}, x, out);
  EXPECT_TRUE(take_findings().empty());
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 3 * i);
  expect_status(cudaFreeHost(x), cudaSuccess);
  if (cuda::sim::checks()) {
    launch(copy_numbers_kernel, {1, 32}, x, out);
    EXPECT_EQ(take_findings().at(0).kind, Kind::use_after_free);
  }
  expect_status(cudaFreeHost(out), cudaSuccess);
}

// A copy of unwritten memory is unwritten, too.
TEST_F(SimMemoryTest, ACopyKeepsWhatWasWritten) {
  if (!cuda::sim::checks()) GTEST_SKIP() << "GRADUS_SIM_CHECK=0: the simulator does not check";
  const DeviceArray<int> x(64), copied(64), out(64);
  ASSERT_EQ(cudaMemset(x, 0, 32 * sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(copied, x, 64 * sizeof(int), cudaMemcpyDeviceToDevice), cudaSuccess);
  launch(copy_numbers_kernel, {1, 32}, copied, out);
  EXPECT_TRUE(take_findings().empty());
  launch(copy_numbers_kernel, {1, 64}, copied, out);
  const std::vector<Finding> findings = take_findings();
  ASSERT_EQ(findings.size(), 1u) << text_of(findings);
  EXPECT_EQ(findings[0].kind, Kind::unwritten);
  EXPECT_EQ(findings[0].times, 32);
  EXPECT_EQ(findings[0].sides.at(0).thread.x, 32u);
}

__constant__ int table[4];
__global__ void table_kernel(int* out) { out[threadIdx.x] = table[threadIdx.x]; }

TEST_F(SimMemoryTest, WritesConstants) {
  const int values[] = {1, 2, 3, 4};
  const DeviceArray<int> out(4);
  expect_status(cudaMemcpyToSymbol(table, values, 16), cudaSuccess);
  expect_status(cudaMemcpyToSymbol(table, values, 4, 12), cudaSuccess);
  expect_status(cudaMemcpyToSymbol(table, values, 17), cudaErrorInvalidValue);
  expect_status(cudaMemcpyToSymbol(table, values, 8, 12), cudaErrorInvalidValue);
  expect_status(cudaMemcpyToSymbol(table, values, SIZE_MAX, 8), cudaErrorInvalidValue);
  expect_status(cudaMemcpyToSymbol(table, nullptr, 4), cudaErrorInvalidValue);
  launch(table_kernel, {1, 4}, out);
  EXPECT_EQ(out.values(), (std::vector<int>{1, 2, 3, 1}));
}

}  // namespace
}  // namespace gradus
