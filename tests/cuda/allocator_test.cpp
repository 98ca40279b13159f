// The allocator on a device; block_pool_test.cpp has its policy.
#include "gradus/cuda/runtime/allocator.h"

#include "gradus/tensor/raw/raw.h"
#include "tests/cuda/gpu_test.h"

namespace gradus {
namespace {

struct AllocatorTest : GpuTest {
  static StoragePtr allocate(size_t nbytes) { return cuda_backend().allocate(nbytes, kCUDA); }
};

TEST_F(AllocatorTest, NoBytesTakeNoMemory) {
  const int64_t before = cuda::stats().mallocs;
  const StoragePtr none = allocate(0);
  EXPECT_EQ(none->data(), nullptr);
  EXPECT_EQ(none->nbytes(), 0u);
  EXPECT_EQ(none->device(), Device("cuda:0"));
  EXPECT_EQ(cuda::stats().mallocs, before);
}

TEST_F(AllocatorTest, SteadyUseNeverCallsCuda) {
  const auto step = [] {
    const StoragePtr a = allocate(1000), b = allocate(1 << 20);
    EXPECT_NE(a->data(), nullptr);
    EXPECT_NE(a->data(), b->data());
  };
  step();
  const cuda::Stats before = cuda::stats();
  for (int i = 0; i < 100; ++i) step();
  const cuda::Stats after = cuda::stats();
  EXPECT_EQ(after.mallocs, before.mallocs);
  EXPECT_EQ(after.frees, before.frees);
  EXPECT_EQ(after.synchronizations, before.synchronizations);
}

TEST_F(AllocatorTest, CountsAndEmptiesTheCache) {
  cuda::empty_cache();
  cuda::reset_peak_memory_stats();
  const cuda::MemoryStats before = cuda::memory_stats();
  {
    const StoragePtr block = allocate(1 << 20);
    EXPECT_EQ(cuda::memory_stats().allocated, before.allocated + (1 << 20));
  }
  cuda::MemoryStats now = cuda::memory_stats();
  EXPECT_EQ(now.allocated, before.allocated);
  EXPECT_EQ(now.peak_allocated, before.allocated + (1 << 20));
  EXPECT_EQ(now.reserved, before.reserved + (1 << 20));
  cuda::empty_cache();
  now = cuda::memory_stats();
  EXPECT_EQ(now.reserved, before.reserved);
  EXPECT_EQ(now.cuda_frees, before.cuda_frees + 1);
}

TEST_F(AllocatorTest, StaysBelowTheLimitOfTheProcess) {
  struct Restore {
    ~Restore() { cuda::set_per_process_memory_fraction(1); }
  } restore;
  cuda::empty_cache();
  const int64_t mib = 1 << 20;
  const auto total = static_cast<double>(cuda::getDeviceProperties(0).total_memory);
  const double limit = static_cast<double>(cuda::memory_stats().reserved + 10 * mib) / total;
  cuda::set_per_process_memory_fraction(limit);
  EXPECT_EQ(cuda::get_per_process_memory_fraction(0), limit);
  { const StoragePtr kept = allocate(6 * mib); }
  { const StoragePtr other = allocate(8 * mib); }  // the cached one makes room
  const StoragePtr held = allocate(8 * mib);
  const std::string text = message_of<OutOfMemoryError>([&] { allocate(3 * mib); });
  EXPECT_CONTAINS(text, "are more than its ");
  EXPECT_CONTAINS(text, "cuda::set_per_process_memory_fraction");
  cuda::set_per_process_memory_fraction(1);
  allocate(3 * mib);
  for (const double wrong : {-0.1, 1.1})
    EXPECT_CONTAINS(message_of<ValueError>([=] { cuda::set_per_process_memory_fraction(wrong); }),
                    "expected a number from 0 to 1");
  message_of<ValueError>([] { cuda::set_per_process_memory_fraction(0.5, 99); });
}

TEST_F(AllocatorTest, SaysHowMuchWasAskedAndHowMuchThereIs) {
  const cuda::MemoryStats before = cuda::memory_stats();
  const std::string text = message_of<OutOfMemoryError>([] { allocate(size_t{1} << 46); });
  EXPECT_CONTAINS(text, "allocate: cuda:0 has no room for 70368744177664 bytes (65536.00 GiB)");
  EXPECT_CONTAINS(text, "are free; use a smaller batch");
  EXPECT_CONTAINS(text, "this process has reserved ");
  {
    const StoragePtr blocks[] = {allocate(200 << 20), allocate(3 << 20), allocate(3 << 20)};
    EXPECT_CONTAINS(message_of<OutOfMemoryError>([] { allocate(size_t{1} << 46); }),
                    "the largest blocks in use: 0.20 GiB, 3.000 MiB (2 of them)");
  }
  message_of<OutOfMemoryError>([] { allocate(SIZE_MAX); });
  EXPECT_EQ(cuda::memory_stats().allocated, before.allocated);
  EXPECT_NE(allocate(100)->data(), nullptr) << "usable after the error";
}

TEST_F(AllocatorTest, EachStreamHasItsOwnBlocks) {
  void* data = allocate(12345)->data();
  {
    const cuda::StreamGuard guard(cuda::getStreamFromPool());
    EXPECT_NE(allocate(12345)->data(), data);
  }
  EXPECT_EQ(allocate(12345)->data(), data);
}

TEST_F(AllocatorTest, RecordStreamKeepsTheDataUntilItHasBeenRead) {
  const cuda::Stream side = cuda::getStreamFromPool();
  const int64_t n = kBusyElements;
  Tensor copy;
  for (int round = 0; round < 10; ++round) {
    Tensor x = raw::empty({n}, kFloat, kCUDA);
    raw::fill_(x, round);
    cuda::Event filled;
    filled.record();
    {
      const cuda::StreamGuard guard(side);
      side.wait(filled);
      copy = raw::clone(x);
    }
    cuda::record_stream(x.impl().storage, side);
    void* data = x.data_ptr();
    x = Tensor();
    const Tensor reused = raw::empty({n}, kFloat, kCUDA);
    EXPECT_EQ(reused.data_ptr(), data);
    raw::fill_(reused, -1);  // must come after the copy on the other stream
    side.synchronize();
    const Tensor result = raw::to(copy, kCPU);
    for (int64_t i = 0; i < n; i += 997)
      ASSERT_EQ(result.data_ptr<float>()[i], static_cast<float>(round)) << i;
  }
}

TEST_F(AllocatorTest, RecordStreamWantsCudaMemory) {
  const StoragePtr cpu = cpu_backend().allocate(16, kCPU);
  EXPECT_CONTAINS(
      message_of<TypeError>([&] { cuda::record_stream(cpu, cuda::getCurrentCUDAStream()); }),
      "record_stream: the storage is not memory of the CUDA allocator");
}

// Destroyed after main, when the driver may be gone: the program must end without an error.
StoragePtr outlives_main;
TEST_F(AllocatorTest, AStorageMayOutliveMain) { outlives_main = allocate(64); }

}  // namespace
}  // namespace gradus
