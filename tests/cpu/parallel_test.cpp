// parallel_for: ranges, threads, errors.
#include "gradus/cpu/parallel.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

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

}  // namespace
}  // namespace gradus::cpu
