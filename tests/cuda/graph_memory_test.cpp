// The allocator's policy for the memory of graphs, over fake memory: runs without a GPU.
#include <gtest/gtest.h>

#include "gradus/cuda/runtime/block_pool.h"
#include "tests/cuda/fake_memory.h"

namespace gradus::cuda {
namespace {

struct GraphMemoryTest : testing::Test {
  FakeMemory memory;
  BlockPool pool{memory};
  const Stream s0 = FakeMemory::stream(0), s1 = FakeMemory::stream(1), s2 = FakeMemory::stream(2);
  std::vector<Block*> freed;

  void begin(uint64_t capture, uint64_t graph, std::initializer_list<Stream> streams) {
    for (const Stream& each : streams) memory.captured[each.handle()] = capture;
    pool.begin_capture(capture, graph);
  }
  void end(uint64_t capture) {
    memory.captured.clear();
    pool.end_capture(capture);
  }
  void release(uint64_t graph, const Stream& stream) {
    pool.release_graph(graph, stream, [&](Block& block) { freed.push_back(&block); });
  }
};

TEST_F(GraphMemoryTest, IsReusedInTheCaptureAndByNobodyElse) {
  Block* const before = pool.allocate(512, s1);
  pool.free(before);
  begin(7, 3, {s1});
  Block* const a = pool.allocate(512, s1);
  EXPECT_NE(a, before) << "a replay would find there what others have written";
  pool.free(a);
  EXPECT_EQ(pool.allocate(512, s1), a);
  EXPECT_NE(pool.allocate(512, s0), a);
  end(7);
  pool.free(a);
  EXPECT_EQ(pool.allocate(512, s1), before);
  EXPECT_NE(pool.allocate(512, s1), a) << "the graph writes there";
}

TEST_F(GraphMemoryTest, IsKeptUntilTheGraphIsGone) {
  begin(7, 3, {s1});
  Block* const a = pool.allocate(512, s1);
  pool.free(a);
  pool.release_cached();
  EXPECT_EQ(memory.live.size(), 1u);
  end(7);
  pool.release_cached();
  EXPECT_EQ(memory.live.size(), 1u);
  release(3, s1);
  EXPECT_EQ(freed, std::vector<Block*>{a});
  pool.release_cached();
  EXPECT_EQ(memory.live.size(), 0u);
}

TEST_F(GraphMemoryTest, BecomesMemoryOfTheStreamThatTheGraphRanOn) {
  begin(7, 3, {s1});
  Block* const a = pool.allocate(512, s1);
  Block* const b = pool.allocate(512, s1);
  pool.free(a);
  end(7);
  release(3, s2);
  EXPECT_EQ(pool.allocate(512, s2), a);
  EXPECT_NE(pool.allocate(512, s2), b) << "a tensor is there";
  pool.free(b);
  EXPECT_EQ(pool.allocate(512, s2), b);
  EXPECT_EQ(b->stream, s2);
}

TEST_F(GraphMemoryTest, IsSharedByGraphsOfOnePool) {
  begin(7, 3, {s1});
  Block* const a = pool.allocate(512, s1);
  pool.free(a);
  end(7);
  begin(8, 3, {s1});
  EXPECT_EQ(pool.allocate(512, s1), a);
  pool.free(a);
  end(8);
  release(3, s1);
  EXPECT_NE(pool.allocate(512, s1), a) << "the other graph has it";
  release(3, s1);
  EXPECT_EQ(pool.allocate(512, s1), a);
}

TEST_F(GraphMemoryTest, MarksOfACaptureOrderItAlone) {
  begin(7, 3, {s1, s2});
  Block* const a = pool.allocate(512, s1);
  pool.record_stream(a, s2);
  pool.free(a);
  EXPECT_EQ(pool.allocate(512, s1), a);
  EXPECT_EQ(memory.log, (std::vector<std::string>{"mark s2", "s1 waits for mark 1"}));
  pool.record_stream(a, s2);
  pool.free(a);
  end(7);
  EXPECT_EQ(memory.discarded, 1);
  release(3, s1);
  EXPECT_EQ(pool.allocate(512, s1), a);
  EXPECT_EQ(memory.log.size(), 3u) << "no wait for a mark of the capture";
}

TEST_F(GraphMemoryTest, MarksFromOutsideAreNoneOfACapture) {
  begin(7, 3, {s1});
  Block* const a = pool.allocate(512, s1);
  end(7);
  pool.record_stream(a, s2);
  pool.free(a);
  begin(8, 3, {s1});
  EXPECT_EQ(pool.allocate(512, s1), a);
  EXPECT_EQ(memory.log, std::vector<std::string>{"mark s2"});
  end(8);
}

TEST_F(GraphMemoryTest, OrdinaryMemoryThatTheCaptureUsesIsMarkedAfterIt) {
  Block* const a = pool.allocate(512, s0);
  pool.record_stream(a, s1);
  begin(7, 3, {s1});
  pool.free(a);
  EXPECT_TRUE(memory.log.empty());
  EXPECT_NE(pool.allocate(512, s0), a);
  end(7);
  EXPECT_EQ(memory.log, std::vector<std::string>{"mark s1"});
  EXPECT_EQ(pool.allocate(512, s0), a);
  EXPECT_EQ(memory.log.back(), "s0 waits for mark 1");
}

TEST_F(GraphMemoryTest, NothingIsGivenBackDuringACapture) {
  memory.capacity = 1024;
  pool.free(pool.allocate(1024, s0));
  begin(7, 3, {s1});
  EXPECT_EQ(pool.allocate(512, s1), nullptr);
  pool.release_cached();
  EXPECT_EQ(memory.live.size(), 1u);
  end(7);
  release(3, s1);
  EXPECT_NE(pool.allocate(512, s1), nullptr);
}

}  // namespace
}  // namespace gradus::cuda
