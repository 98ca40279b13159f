// The allocator's policy, over fake memory: runs without a GPU.
#include "gradus/cuda/runtime/block_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <thread>

#include "gradus/tensor/base/error.h"
#include "tests/cuda/fake_memory.h"

namespace gradus::cuda {
namespace {

using Log = std::vector<std::string>;

struct BlockPoolTest : testing::Test {
  FakeMemory memory;
  BlockPool pool{memory};
  const Stream s0 = FakeMemory::stream(0), s1 = FakeMemory::stream(1), s2 = FakeMemory::stream(2);
};

std::mt19937_64 random_source() {
  const char* given = std::getenv("GRADUS_TEST_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "GRADUS_TEST_SEED=" << seed << '\n';
  return std::mt19937_64(seed);
}

TEST_F(BlockPoolTest, ListsTheLargestBlocksInUse) {
  EXPECT_TRUE(pool.largest_in_use(3).empty());
  Block* const small = pool.allocate(512, s0);
  Block* const large = pool.allocate(4096, s1);
  Block* const same = pool.allocate(4000, s0);
  EXPECT_EQ(pool.largest_in_use(2), (std::vector<size_t>{4096, 4096}));
  pool.free(large);
  EXPECT_EQ(pool.largest_in_use(9), (std::vector<size_t>{4096, 512})) << "cached is not in use";
  pool.free(same);
  pool.free(small);
}

TEST(SizeClass, KnownSizes) {
  const size_t mib = size_t{1} << 20;
  EXPECT_EQ(SizeClass::of(1).nbytes, 512u);
  EXPECT_EQ(SizeClass::of(512).nbytes, 512u);
  EXPECT_EQ(SizeClass::of(513).nbytes, 1024u);
  EXPECT_EQ(SizeClass::of(8192).nbytes, 8192u);
  EXPECT_EQ(SizeClass::of(8193).nbytes, 8704u);
  EXPECT_EQ(SizeClass::of(32 * 1024 + 1).nbytes, 33u * 1024);
  EXPECT_EQ(SizeClass::of(mib).nbytes, mib);
  EXPECT_EQ(SizeClass::of(mib + 1).nbytes, mib + mib / 32);
  EXPECT_EQ(SizeClass::of(2 * mib - 1).nbytes, 2 * mib);
  EXPECT_EQ(SizeClass::of(SizeClass::kLargest).nbytes, SizeClass::kLargest);
}

TEST(SizeClass, IndexAndSizeNameTheSameClass) {
  size_t nbytes = 0;
  for (int index = 0; index < kSizeClasses; ++index) {
    const SizeClass next = SizeClass::of(nbytes + 1);
    ASSERT_EQ(next.index, index);
    ASSERT_EQ(SizeClass::of(next.nbytes).index, index);
    ASSERT_EQ(SizeClass::of(next.nbytes).nbytes, next.nbytes);
    nbytes = next.nbytes;
  }
  EXPECT_EQ(nbytes, SizeClass::kLargest);
}

TEST(SizeClass, RoundsUpByA32ndAtMost) {
  std::mt19937_64 random = random_source();
  for (int i = 0; i < 100000; ++i) {
    const size_t n = (random() >> (16 + random() % 48)) % SizeClass::kLargest + 1;
    const size_t rounded = SizeClass::of(n).nbytes;
    ASSERT_GE(rounded, n);
    ASSERT_LE(rounded - n, std::max<size_t>(511, n / 32)) << n;
    ASSERT_EQ(rounded % 512, 0u) << n;
  }
}

TEST_F(BlockPoolTest, ReusesABlockOfTheSameStreamAndClass) {
  Block* block = pool.allocate(1000, s0);
  void* data = block->data;
  EXPECT_EQ(block->nbytes, 1024u);
  pool.free(block);
  block = pool.allocate(600, s0);
  EXPECT_EQ(block->data, data);
  EXPECT_EQ(memory.allocations, 1);
  EXPECT_NE(pool.allocate(600, s0)->data, data) << "in use";
  EXPECT_EQ(memory.allocations, 2);
  EXPECT_EQ(memory.log, Log{}) << "the order of the stream is enough";
}

TEST_F(BlockPoolTest, KeepsStreamsAndClassesApart) {
  pool.free(pool.allocate(1000, s0));
  pool.allocate(1000, s1);
  EXPECT_EQ(memory.allocations, 2);
  pool.allocate(2000, s0);
  EXPECT_EQ(memory.allocations, 3);
}

TEST_F(BlockPoolTest, ReuseWaitsForTheOtherStreamsThatUsedTheBlock) {
  Block* block = pool.allocate(100, s0);
  pool.record_stream(block, s1);
  pool.record_stream(block, s1);
  pool.record_stream(block, s0);  // its own: nothing to wait for
  pool.record_stream(block, s2);
  EXPECT_EQ(memory.log, Log{});
  pool.free(block);
  EXPECT_EQ(memory.log, (Log{"mark s1", "mark s2"}));
  memory.log.clear();
  EXPECT_EQ(pool.allocate(100, s0), block);
  EXPECT_EQ(memory.log, (Log{"s0 waits for mark 2", "s0 waits for mark 1"}));
  memory.log.clear();
  pool.free(block);
  EXPECT_EQ(pool.allocate(100, s0), block);
  EXPECT_EQ(memory.log, Log{}) << "the uses of the former owner are forgotten";
}

TEST_F(BlockPoolTest, ABlockThatCannotBeMarkedIsNeverReused) {
  Block* block = pool.allocate(100, s0);
  void* data = block->data;
  pool.record_stream(block, s1);
  memory.marks_fail = true;
  pool.free(block);
  EXPECT_EQ(pool.stats().allocated, 0);
  EXPECT_NE(pool.allocate(100, s0)->data, data);
  pool.release_cached();
  EXPECT_EQ(memory.live.count(data), 1u);
}

TEST_F(BlockPoolTest, AFailedWaitLeavesTheBlockInTheCache) {
  Block* block = pool.allocate(100, s0);
  pool.record_stream(block, s1);
  pool.free(block);
  memory.wait_throws = true;
  EXPECT_THROW(pool.allocate(100, s0), Error);
  EXPECT_EQ(pool.stats().blocks, 0);
  EXPECT_EQ(pool.stats().allocated, 0);
  memory.wait_throws = false;
  EXPECT_EQ(pool.allocate(100, s0), block);
  EXPECT_EQ(memory.log.back(), "s0 waits for mark 1");
}

TEST_F(BlockPoolTest, ReleasesTheCacheBeforeItGivesUp) {
  memory.capacity = 4096;
  Block* kept = pool.allocate(1024, s0);
  pool.free(pool.allocate(1024, s0));
  Block* other = pool.allocate(2048, s1);
  pool.record_stream(other, s0);
  pool.free(other);
  EXPECT_EQ(memory.used(), 4096u);
  EXPECT_NE(pool.allocate(3072, s0), nullptr);
  EXPECT_EQ(memory.used(), 4096u);
  EXPECT_EQ(memory.discarded, 1) << "the mark of the released block";
  EXPECT_EQ(pool.stats().cuda_frees, 2);
  EXPECT_EQ(memory.live.count(kept->data), 1u);
}

TEST_F(BlockPoolTest, ChangesNothingWhereThereIsNoRoom) {
  memory.capacity = 4096;
  Block* kept = pool.allocate(1024, s0);
  const MemoryStats before = pool.stats();
  EXPECT_EQ(pool.allocate(4096, s0), nullptr);
  EXPECT_EQ(pool.allocate(SizeClass::kLargest + 1, s0), nullptr);
  EXPECT_EQ(pool.allocate(SIZE_MAX, s0), nullptr);
  memory.allocate_throws = true;
  EXPECT_THROW(pool.allocate(2048, s0), Error);
  const MemoryStats after = pool.stats();
  EXPECT_EQ(after.allocated, before.allocated);
  EXPECT_EQ(after.peak_allocated, before.peak_allocated);
  EXPECT_EQ(after.reserved, before.reserved);
  EXPECT_EQ(after.cuda_mallocs, before.cuda_mallocs);
  EXPECT_EQ(after.blocks, 1);
  pool.free(kept);
  EXPECT_EQ(pool.allocate(1024, s0), kept);
}

TEST_F(BlockPoolTest, CountsBytesAndCalls) {
  Block* a = pool.allocate(512, s0);
  Block* b = pool.allocate(1024, s0);
  pool.free(a);
  MemoryStats stats = pool.stats();
  EXPECT_EQ(stats.allocated, 1024);
  EXPECT_EQ(stats.peak_allocated, 1536);
  EXPECT_EQ(stats.reserved, 1536);
  EXPECT_EQ(stats.peak_reserved, 1536);
  EXPECT_EQ(stats.blocks, 1);
  EXPECT_EQ(stats.cuda_mallocs, 2);
  pool.release_cached();
  pool.reset_peaks();
  stats = pool.stats();
  EXPECT_EQ(stats.peak_allocated, 1024);
  EXPECT_EQ(stats.reserved, 1024);
  EXPECT_EQ(stats.peak_reserved, 1024);
  EXPECT_EQ(stats.cuda_frees, 1);
  EXPECT_EQ(memory.used(), 1024u);
  pool.free(b);
}

TEST_F(BlockPoolTest, KeepsItsBooksUnderRandomUse) {
  std::mt19937_64 random = random_source();
  memory.capacity = 1 << 20;
  std::vector<Block*> in_use;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 2 && !in_use.empty()) {
      std::swap(in_use[random() % in_use.size()], in_use.back());
      if (random() % 4 == 0) pool.record_stream(in_use.back(), s2);
      pool.free(in_use.back());
      in_use.pop_back();
    } else if (Block* block = pool.allocate(random() % 20000 + 1, random() % 2 ? s0 : s1)) {
      in_use.push_back(block);
    }
    if (random() % 1000 == 0) pool.release_cached();
    std::set<void*> addresses;
    size_t allocated = 0;
    for (const Block* block : in_use) {
      addresses.insert(block->data);
      allocated += block->nbytes;
      ASSERT_EQ(memory.live.at(block->data), block->nbytes);
    }
    ASSERT_EQ(addresses.size(), in_use.size()) << "a block was given out twice";
    ASSERT_EQ(pool.stats().allocated, static_cast<int64_t>(allocated));
    ASSERT_EQ(pool.stats().reserved, static_cast<int64_t>(memory.used()));
    ASSERT_LE(memory.used(), memory.capacity);
  }
}

TEST_F(BlockPoolTest, ThreadsNeverShareABlock) {
  std::vector<std::atomic<int>> owners(1 << 16);
  std::atomic<bool> shared{false};
  const auto work = [&] {
    for (int i = 0; i < 2000; ++i) {
      Block* block = pool.allocate(512, s0);
      std::atomic<int>& owner = owners[reinterpret_cast<uintptr_t>(block->data) / 0x1000];
      if (owner.fetch_add(1) != 0) shared = true;
      std::this_thread::yield();
      owner.fetch_sub(1);
      pool.free(block);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(shared);
  EXPECT_EQ(pool.stats().blocks, 0);
  EXPECT_LE(memory.allocations, 4);
}

}  // namespace
}  // namespace gradus::cuda
