// Streams and events.
#include "gradus/cuda/runtime/stream.h"

#include <set>
#include <thread>

#include "gradus/cuda/runtime/event.h"
#include "gradus/tensor/raw/raw.h"
#include "tests/cuda/gpu_test.h"

namespace gradus {
namespace {

using StreamTest = GpuTest;
using EventTest = GpuTest;

TEST_F(StreamTest, TheDefaultStreamIsCurrentUntilAnotherIsSet) {
  EXPECT_EQ(cuda::getCurrentCUDAStream().handle(), nullptr);
  EXPECT_EQ(cuda::getCurrentCUDAStream(), cuda::getDefaultCUDAStream());
  const cuda::Stream side = cuda::getStreamFromPool();
  {
    const cuda::StreamGuard guard(side);
    EXPECT_EQ(cuda::getCurrentCUDAStream(), side);
    std::thread([&] { EXPECT_NE(cuda::getCurrentCUDAStream(), side); }).join();
  }
  EXPECT_EQ(cuda::getCurrentCUDAStream(), cuda::getDefaultCUDAStream());
  cuda::setCurrentCUDAStream(side);
  EXPECT_EQ(cuda::getCurrentCUDAStream(), side);
  cuda::setCurrentCUDAStream(cuda::getDefaultCUDAStream());
}

TEST_F(StreamTest, ThePoolGoesRound) {
  std::set<void*> seen;
  for (const bool high : {false, true})
    for (int i = 0; i < 40; ++i) seen.insert(cuda::getStreamFromPool(high).handle());
  EXPECT_EQ(seen.size(), 64u);
  EXPECT_EQ(seen.count(nullptr), 0u);
}

TEST_F(StreamTest, GuardSetsTheDeviceToo) {
  const int last = static_cast<int>(cuda::device_count()) - 1;
  const cuda::Stream side = cuda::getStreamFromPool(false, last);
  EXPECT_EQ(side.device_index(), last);
  {
    const cuda::StreamGuard guard(side);
    EXPECT_EQ(cuda::current_device(), last);
    EXPECT_EQ(cuda::getCurrentCUDAStream(), side);
  }
  EXPECT_EQ(cuda::current_device(), 0);
  EXPECT_EQ(cuda::getCurrentCUDAStream(last), cuda::getDefaultCUDAStream(last));
}

TEST_F(StreamTest, WaitOrdersTwoStreams) {
  const cuda::Stream first = cuda::getStreamFromPool(), second = cuda::getStreamFromPool();
  const int64_t n = kBusyElements;
  const Tensor x = raw::empty({n}, kFloat, kCUDA);
  cuda::synchronize();
  Tensor copy;
  for (int round = 0; round < 10; ++round) {
    cuda::Event written, read;
    {
      const cuda::StreamGuard guard(first);
      for (int i = 0; i < 20; ++i) raw::fill_(x, -1);
      raw::fill_(x, round);
      written.record();
    }
    {
      const cuda::StreamGuard guard(second);
      second.wait(written);
      copy = raw::clone(x);
      read.record();
    }
    first.wait(read);
    second.synchronize();
    EXPECT_TRUE(second.query());
    EXPECT_TRUE(written.query());
    const Tensor result = raw::to(copy, kCPU);
    for (int64_t i = 0; i < n; i += 997)
      ASSERT_EQ(result.data_ptr<float>()[i], static_cast<float>(round)) << i;
  }
}

TEST_F(StreamTest, SynchronizeCounts) {
  const int64_t before = cuda::stats().synchronizations;
  cuda::getCurrentCUDAStream().synchronize();
  cuda::synchronize();
  cuda::Event event;
  event.record();
  event.synchronize();
  EXPECT_EQ(cuda::stats().synchronizations, before + 3);
  EXPECT_TRUE(cuda::getCurrentCUDAStream().query());
  EXPECT_EQ(cuda::stats().synchronizations, before + 3) << "query() does not wait";
}

TEST_F(EventTest, MeasuresTime) {
  const Tensor x = raw::empty({kBusyElements}, kFloat, kCUDA);
  cuda::Event start(true), middle(true), end(true);
  start.record();
  raw::fill_(x, 1);
  middle.record();
  for (int i = 0; i < 10; ++i) raw::fill_(x, 1);
  end.record();
  end.synchronize();
  EXPECT_GT(start.elapsed_time(middle), 0);
  EXPECT_GT(start.elapsed_time(end), start.elapsed_time(middle));
}

TEST_F(EventTest, SaysWhyThereIsNoTime) {
  cuda::Event untimed, timed(true);
  EXPECT_CONTAINS(message_of<ValueError>([&] { timed.elapsed_time(timed); }), "not recorded");
  untimed.record();
  timed.record();
  EXPECT_CONTAINS(message_of<ValueError>([&] { timed.elapsed_time(untimed); }),
                  "without timing; make both with Event(true)");
}

TEST_F(EventTest, DoesNothingBeforeItIsRecorded) {
  const cuda::Event event;
  const int64_t before = cuda::stats().synchronizations;
  EXPECT_FALSE(event.is_recorded());
  EXPECT_TRUE(event.query());
  event.synchronize();
  event.block(cuda::getCurrentCUDAStream());
  EXPECT_EQ(cuda::stats().synchronizations, before);
}

TEST_F(EventTest, Moves) {
  cuda::Event a;
  a.record();
  void* handle = a.handle();
  cuda::Event b = std::move(a);
  EXPECT_EQ(b.handle(), handle);
  cuda::Event c;
  c = std::move(b);
  EXPECT_EQ(c.handle(), handle);
  c.synchronize();
}

TEST_F(EventTest, BelongsToOneDevice) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "needs two devices";
  cuda::Event event;
  event.record(cuda::getCurrentCUDAStream(0));
  EXPECT_CONTAINS(message_of<ValueError>([&] { event.record(cuda::getCurrentCUDAStream(1)); }),
                  "the event belongs to cuda:0, the stream to cuda:1");
  event.block(cuda::getCurrentCUDAStream(1));
  cuda::synchronize(1);
}

}  // namespace
}  // namespace gradus
