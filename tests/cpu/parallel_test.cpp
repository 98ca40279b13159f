// parallel_for: ranges, threads, errors, forks.
#include "gradus/cpu/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gradus/tensor/base/threads.h"
#include "tests/failing_threads.h"
#include "tests/forked.h"

namespace gradus::cpu {
namespace {

using Chunks = std::set<std::pair<int64_t, int64_t>>;

Chunks chunks(int64_t begin, int64_t end, int64_t grain) {
  Chunks seen;
  std::mutex mutex;
  parallel_for(begin, end, grain, [&](int64_t first, int64_t last) {
    std::lock_guard lock(mutex);
    EXPECT_TRUE(seen.emplace(first, last).second);
  });
  return seen;
}

TEST(Parallel, ChunkBordersAreFixed) {
  EXPECT_EQ(chunks(3, 20, 5), (Chunks{{3, 8}, {8, 13}, {13, 18}, {18, 20}}));
  EXPECT_EQ(chunks(0, 10, 5), (Chunks{{0, 5}, {5, 10}}));
  EXPECT_EQ(chunks(2, 7, 5), (Chunks{{2, 7}}));
}

TEST(Parallel, SharesAreEvenAndOfWholeLines) {
  for (const int64_t numel : {0, 1, 1000, 1001, 5000, 100'000, 1'234'567}) {
    const int64_t share = share_of(numel, 1000);
    if (numel <= 1000) {
      EXPECT_GE(share, numel);
      continue;
    }
    EXPECT_EQ(share % 64, 0);
    EXPECT_LE((numel - 1) / share + 1, thread_count());
    EXPECT_LE(share, numel / std::min<int64_t>(thread_count(), numel / 125) + 64);
    EXPECT_GE(share, 125);
  }
}

// A few planes or rows, each long enough for a thread.
TEST(Parallel, SharesOfLongRoundsAreEven) {
  const int before = get_num_threads();
  for (const int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    for (const int64_t count : {2, 8, 32, 64, 128, 394})
      EXPECT_EQ(share_of(count, 1, 1), divide_up(count, threads)) << count << ", " << threads;
  }
  set_num_threads(before);
}

TEST(Parallel, EmptyRangeCallsNothing) { EXPECT_EQ(chunks(4, 4, 5), Chunks{}); }

TEST(Parallel, WritesOfEveryThreadAreSeenAfterwards) {
  std::vector<int> hits(100'000);
  for (int round = 0; round < 20; ++round)
    parallel_for(0, std::ssize(hits), 1000, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) ++hits[static_cast<size_t>(i)];
    });
  for (int hit : hits) ASSERT_EQ(hit, 20);
}

TEST(Parallel, AnExceptionReachesTheCaller) {
  const auto loop = [](int64_t end) {
    parallel_for(0, end, 10, [](int64_t first, int64_t) {
      if (first == 0) throw std::runtime_error("chunk 0");
    });
  };
  EXPECT_THROW(loop(10), std::runtime_error);
  EXPECT_THROW(loop(1000), std::runtime_error);
  EXPECT_EQ(chunks(0, 20, 10).size(), 2u);  // and the next loop runs
}

TEST(Parallel, ALoopInsideALoopRunsInItsThread) {
  std::vector<int> hits(64);
  parallel_for(0, 8, 1, [&](int64_t i, int64_t) {
    EXPECT_EQ(thread_count(), 1);
    parallel_for(0, 8, 1, [&](int64_t j, int64_t) { ++hits[static_cast<size_t>(8 * i + j)]; });
  });
  for (int hit : hits) EXPECT_EQ(hit, 1);
}

TEST(Parallel, AnExceptionLeavesANestedLoop) {
  const auto nested = [] {
    parallel_for(0, 4, 1, [](int64_t, int64_t) {
      parallel_for(0, 4, 1, [](int64_t, int64_t) { throw std::runtime_error("inner"); });
    });
  };
  EXPECT_THROW(nested(), std::runtime_error);
}

// Restores the number of threads.
struct Threads {
  explicit Threads(int count) { set_num_threads(count); }
  ~Threads() { set_num_threads(before); }
  const int before = get_num_threads();
};

// The sum of 0 .. count - 1, in chunks of one number.
int64_t sum_of_chunks(int64_t count) {
  std::atomic<int64_t> sum = 0;
  parallel_for(0, count, 1, [&](int64_t i, int64_t) { sum += i; });
  return sum;
}

// As where another process has its core.
TEST(Parallel, NobodyWaitsForAThreadThatIsHeldUp) {
  const Threads two(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> done = 0, held_up = 0;
  for (int round = 0; round < 100 && held_up == 0; ++round, done = 0)
    parallel_for(0, 8, 1, [&](int64_t, int64_t) {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
      if (std::this_thread::get_id() != caller && held_up++ == 0)
        while (done < 7) {
          ASSERT_LT(std::chrono::steady_clock::now(), deadline) << done << " other chunks ran";
          std::this_thread::yield();
        }
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++done;
    });
  EXPECT_GT(held_up, 0);
}

TEST(Parallel, LoopsOfSeveralThreadsRunSideBySide) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      set_num_threads(3);
      for (int round = 0; round < 200; ++round) wrong += sum_of_chunks(50) != 1225;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Parallel, WhatIsSetHoldsForThisThread) {
  const Threads five(5);
  EXPECT_EQ(get_num_threads(), 5);
  int elsewhere = 0;
  std::thread([&] { elsewhere = get_num_threads(); }).join();
  EXPECT_EQ(elsewhere, five.before);
}

TEST(Parallel, LoopsRunWithTheThreadsThatTheSystemStarts) {
  const Threads many(200);
  for (const int allowed : {0, 1, 3}) {
    const test::ThreadsAllowed some(allowed);
    EXPECT_EQ(sum_of_chunks(1000), 499'500) << allowed;
  }
}

TEST(Parallel, AForkedChildHasThreadsOfItsOwn) {
  const Threads three(3);
  ASSERT_EQ(sum_of_chunks(100), 4950);
  EXPECT_TRUE(test::holds_in_child([] {
    return sum_of_chunks(100) == 4950 &&
           test::holds_in_child([] { return sum_of_chunks(1000) == 499'500; });
  }));
  EXPECT_EQ(sum_of_chunks(100), 4950);
}

}  // namespace
}  // namespace gradus::cpu
