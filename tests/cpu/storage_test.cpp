// Memory of the CPU: alignment, reuse, errors.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "gradus/cpu/blocks.h"
#include "gradus/tensor/backend.h"
#include "gradus/tensor/base/cpu_memory.h"
#include "gradus/tensor/base/recycled.h"

namespace gradus {
namespace {

TEST(CpuStorage, HoldsItsBytesOnTheCpu) {
  for (size_t nbytes : {0, 1, 1023, 1024, 5000, 20'000'001}) {
    const StoragePtr storage = cpu_backend().allocate(nbytes, Device(kCPU));
    ASSERT_NE(storage->data(), nullptr);
    EXPECT_EQ(storage->nbytes(), nbytes);
    EXPECT_EQ(storage->device(), Device(kCPU));
    std::memset(storage->data(), 7, nbytes);
  }
}

TEST(CpuStorage, LargeBlocksStartAtACacheLine) {
  for (size_t nbytes : {1024, 1100, 4096, 100'000, 20'000'000}) {
    const StoragePtr storage = cpu_backend().allocate(nbytes, Device(kCPU));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->data()) % 64, 0u) << nbytes;
  }
}

TEST(CpuStorage, SaysHowMuchIsMissing) {
  for (size_t nbytes : {size_t{1} << 62, SIZE_MAX}) {
    try {
      cpu_backend().allocate(nbytes, Device(kCPU));
      FAIL() << "expected OutOfMemoryError";
    } catch (const OutOfMemoryError& error) {
      EXPECT_NE(error.msg().find(std::to_string(nbytes) + " bytes"), std::string::npos)
          << error.msg();
    }
  }
}

constexpr size_t kMiB = size_t{1} << 20;

TEST(CpuBlocks, LargeOnesServeTheNextTensorOfAboutTheirSizeOnAnyThread) {
  if (kSanitized) GTEST_SKIP() << "sanitizers see all memory freed";
  void* const block = cpu::take_block(40 * kMiB);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % (2 * kMiB), 0u);
  cpu::give_block(block, 40 * kMiB);
  std::thread([&] {
    void* const other = cpu::take_block(60 * kMiB);
    EXPECT_NE(other, block);
    void* const same = cpu::take_block(40 * kMiB - 5);
    EXPECT_EQ(same, block);
    cpu::give_block(other, 60 * kMiB), cpu::give_block(same, 40 * kMiB - 5);
  }).join();
}

TEST(CpuBlocks, TheProcessKeepsTheNewestOfLargeOnes) {
  if (kSanitized) GTEST_SKIP() << "sanitizers see all memory freed";
  std::vector<void*> blocks;
  for (int i = 0; i < 9; ++i) blocks.push_back(cpu::take_block(64 * kMiB));
  const std::set<void*> all(blocks.begin(), blocks.end());
  EXPECT_EQ(all.size(), blocks.size());
  for (void* block : blocks) cpu::give_block(block, 64 * kMiB);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(cpu::take_block(64 * kMiB), blocks[8 - i]);
  for (size_t i = 0; i < 4; ++i) cpu::give_block(blocks[5 + i], 64 * kMiB);
}

TEST(CpuBlocks, AreNoOneElsesWhileTheyAreTaken) {
  const auto work = [](unsigned char mark) {
    std::vector<std::pair<unsigned char*, size_t>> taken;
    for (int round = 0; round < 300; ++round) {
      for (const size_t size : {size_t{700}, size_t{3000}, kMiB, kMiB + 1, 3 * kMiB}) {
        auto* const block = static_cast<unsigned char*>(cpu::take_block(size));
        block[0] = block[size / 2] = block[size - 1] = mark;
        taken.emplace_back(block, size);
      }
      const size_t left = taken.size() > 20 ? 0 : taken.size() - 2;
      for (; taken.size() > left; taken.pop_back()) {
        const auto& [block, size] = taken.back();
        ASSERT_TRUE(block[0] == mark && block[size / 2] == mark && block[size - 1] == mark);
        cpu::give_block(block, size);
      }
    }
    for (const auto& [block, size] : taken) cpu::give_block(block, size);
  };
  std::vector<std::thread> threads;
  for (unsigned char mark = 1; mark <= 4; ++mark) threads.emplace_back(work, mark);
  for (std::thread& thread : threads) thread.join();
}

TEST(CpuBackend, IsOneDevice) { EXPECT_EQ(cpu_backend().resolve(kCPU), Device(kCPU)); }

TEST(CpuBackend, LeavesTransfersToTheOtherDevice) {
  const Tensor x(std::make_shared<TensorImpl>(cpu_backend().allocate(4, Device(kCPU)), kFloat,
                                              Dims{1}, Dims{1}, 0, 1, true));
  EXPECT_THROW(cpu_backend().transfer(x, x, false), Error);
}

TEST(CpuMemory, EmptyCacheGivesBackWhatIsKept) {
  cpu::empty_cache();
  const int64_t before = cpu::memory_reserved();
  for (const size_t nbytes : {4096 * size_t{1}, 40 * kMiB}) {
    void* const block = cpu::take_block(nbytes);
    const int64_t reserved = cpu::memory_reserved();
    EXPECT_GE(reserved, before + static_cast<int64_t>(nbytes));
    cpu::give_block(block, nbytes);
    EXPECT_EQ(cpu::memory_reserved(), kSanitized ? before : reserved);
    cpu::empty_cache();
    EXPECT_EQ(cpu::memory_reserved(), before);
  }
  // Blocks of another thread are given back with the thread.
  std::thread([] { cpu::give_block(cpu::take_block(4096), 4096); }).join();
  EXPECT_EQ(cpu::memory_reserved(), before);
}

TEST(CpuMemory, StaysBelowALimit) {
  struct Restore {
    ~Restore() { cpu::set_per_process_memory_fraction(1); }
  } restore;
  const auto message = [](size_t nbytes) -> std::string {
    try {
      cpu::give_block(cpu::take_block(nbytes), nbytes);
    } catch (const OutOfMemoryError& error) {
      return error.msg();
    }
    return "";
  };
  cpu::empty_cache();  // a block that another test left would serve below the limit
  void* const used = cpu::take_block(4 * kMiB);
  cpu::give_block(cpu::take_block(30 * kMiB), 30 * kMiB);  // kept
  cpu::set_per_process_memory_fraction(0);
  EXPECT_EQ(cpu::get_per_process_memory_fraction(), 0);
  EXPECT_EQ(message(512), "");  // too small to count
  EXPECT_NE(message(4 * kMiB).find("are more than the limit of 0 bytes; use smaller tensors, or "
                                   "cpu::set_per_process_memory_fraction"),
            std::string::npos)
      << message(4 * kMiB);
  cpu::give_block(used, 4 * kMiB);
  // A part of the memory: what is kept makes room first.
  const double machine = static_cast<double>(sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
  const auto limit = static_cast<double>(cpu::memory_reserved() + 64 * int64_t{kMiB});
  cpu::set_per_process_memory_fraction(limit / machine);
  cpu::give_block(cpu::take_block(40 * kMiB), 40 * kMiB);
  EXPECT_EQ(message(56 * kMiB), "");
  EXPECT_NE(message(size_t{1} << 40), "");
  for (const double wrong : {-0.1, 1.1})
    EXPECT_THROW(cpu::set_per_process_memory_fraction(wrong), ValueError);
}

}  // namespace
}  // namespace gradus
