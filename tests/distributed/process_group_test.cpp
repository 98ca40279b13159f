// The thread of a group: what it starts while a GPU works at earlier calls, and how these end.
#include <atomic>
#include <mutex>
#include <thread>

#include "gradus/distributed/distributed.h"
#include "tests/cuda/gpu_test.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace dist = distributed;
using dist::DistributedError;
using std::chrono::milliseconds;

// Events in their order, for any thread.
class Log {
 public:
  void add(const std::string& event) {
    const std::lock_guard lock(mutex_);
    text_ += event + ' ';
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

class LoggedWatch final : public dist::Watch {
 public:
  LoggedWatch(Log& log, milliseconds timeout)
      : Watch(std::make_shared<dist::Failure>(), timeout), log_(log) {}
  void open(const std::string&, const std::vector<int>&) override {}
  void start(const std::string&, uint64_t, const std::string&) override {}
  void finish(const std::string&, uint64_t n) override { log_.add("end" + std::to_string(n)); }
  void leave() override {}
  void give_up(const std::string& why) override { failure().happen("distributed: " + why); }

 private:
  Log& log_;
};

// A rank alone, whose GPU ends as many calls as it is told to.
class HeldGroup final : public dist::ProcessGroup {
 public:
  explicit HeldGroup(Log& log, milliseconds timeout = milliseconds(20000))
      : ProcessGroup({"held", {0}, 0, std::make_shared<LoggedWatch>(log, timeout)}), log_(log) {}
  ~HeldGroup() override {
    join();
    log_.add("ended");
  }

  const char* backend() const override { return "held"; }
  void check_device(const char*, Device) const override {}
  void broadcast(const Tensor&, int) override {}
  void all_reduce(const Tensor&, dist::ReduceOp) override {}
  void all_gather(const Tensor&, const Tensor&) override {}
  void reduce_scatter(const Tensor&, const Tensor&, dist::ReduceOp) override {}
  void all_to_all(const Tensor&, const Counts&, const Tensor&, const Counts&) override {}
  void barrier() override {}
  dist::WorkPtr send(const Tensor& x, int, int) override {
    return submit_message("send", {x}, [] {});
  }
  dist::WorkPtr recv(const Tensor& x, int, int) override {
    return submit_message("recv", {x}, [] {});
  }

  dist::WorkPtr call(const std::string& name, Tensors tensors) {
    return submit(name, std::move(tensors), [this, name] {
      log_.add(name);
      check<IndexError>(name != "bad", "it broke");
    });
  }
  void let_end(int calls) { may_end_ += calls; }

 protected:
  bool only_queues() const override { return true; }
  bool is_done(dist::QueuedWork& work) const override {
    return may_end_ > 0 && work.is_reached() && may_end_-- > 0;
  }

 private:
  Log& log_;
  mutable std::atomic<int> may_end_{0};
};

void wait_for(const Log& log, const std::string& text) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (log.text() != text && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(log.text(), text);
}

class GroupThread : public GpuTest {
 protected:
  Tensor on_gpu() { return ones({2}).to(Device(kCUDA, 0)); }
  Log log;
};

TEST_F(GroupThread, StartsCallsWhileEarlierOnesAreUnderWay) {
  HeldGroup group(log);
  Tensor x = on_gpu();
  const auto a = group.call("a", {x}), b = group.call("b", {x}), c = group.call("c", {x});
  wait_for(log, "a b c ");
  EXPECT_TRUE(a->wait() && b->wait() && c->wait());  // the host waits for none of them
  for (const auto& work : {a, b, c}) EXPECT_FALSE(work->is_completed());
  group.let_end(2);
  wait_for(log, "a b c end1 end2 ");
  group.let_end(1);
  wait_for(log, "a b c end1 end2 end3 ");
  while (!c->is_completed()) std::this_thread::yield();
  EXPECT_EQ(c->exception(), nullptr);
}

TEST_F(GroupThread, ACallOfTheHostComesAfterThoseUnderWayAndBeforeLaterOnes) {
  HeldGroup group(log);
  group.call("a", {on_gpu()});
  const auto host = group.call("host", {});
  group.call("b", {on_gpu()});
  wait_for(log, "a ");
  EXPECT_FALSE(host->is_completed());
  group.let_end(3);
  wait_for(log, "a end1 host end2 b end3 ");
}

TEST_F(GroupThread, FreesTensorsAtTheEndOrWhenTheirStreamWaits) {
  HeldGroup group(log);
  Tensor x = on_gpu(), y = on_gpu(), z = on_gpu();
  const auto holders = [](const Tensor& t) { return t.impl_ptr().use_count(); };
  const auto of_x = group.call("x", {x}), of_y = group.call("y", {y}), of_z = group.call("z", {z});
  wait_for(log, "x y z ");
  of_x->wait();
  EXPECT_EQ(holders(x), 1);
  {
    const cuda::StreamGuard guard(cuda::getStreamFromPool());
    of_y->wait();  // the stream that y belongs to has not waited
  }
  EXPECT_EQ(holders(y), 2);
  EXPECT_EQ(holders(z), 2);
  group.let_end(3);
  while (!of_z->is_completed()) std::this_thread::yield();
  EXPECT_EQ(holders(y), 1);
  EXPECT_EQ(holders(z), 1);
}

TEST_F(GroupThread, AFailureEndsAllThatAreUnderWayOrQueued) {
  HeldGroup group(log);
  Tensor x = on_gpu();
  const auto a = group.call("a", {x}), b = group.call("b", {x}), host = group.call("host", {});
  wait_for(log, "a b ");
  group.watch().failure().happen("distributed: over");
  for (const auto& work : {a, b, host}) {
    while (!work->is_completed()) std::this_thread::yield();
    expect_error<DistributedError>([&] { work->wait(); }, "distributed: over");
  }
  EXPECT_EQ(log.text(), "a b ");
  EXPECT_EQ(x.impl_ptr().use_count(), 1);
  expect_error<DistributedError>([&] { group.call("late", {x}); }, "distributed: over");
}

TEST_F(GroupThread, ACallThatThrowsEndsTheOnesBeforeIt) {
  HeldGroup group(log);
  const auto a = group.call("a", {on_gpu()}), bad = group.call("bad", {on_gpu()});
  while (!bad->is_completed()) std::this_thread::yield();
  expect_error<IndexError>([&] { bad->wait(); }, "it broke");
  expect_error<DistributedError>([&] { a->wait(); },
                                 "failed in operation 2 of group 'held', bad: it broke");
}

TEST_F(GroupThread, AMessageHasItsTimeFromWhenItIsNextToEnd) {
  HeldGroup group(log, milliseconds(200));
  group.call("a", {on_gpu()});
  const auto message = group.send(on_gpu(), 0, 0);
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_FALSE(message->is_completed());  // the call before it is the watch's to time
  group.let_end(1);
  while (!message->is_completed()) std::this_thread::yield();
  expect_error<DistributedError>([&] { message->wait(); },
                                 "waited 0.2 s in send of group 'held', which nobody answered");
}

TEST(ProcessGroup, ItsOwnThreadMayBeTheLastToLetGoOfIt) {
  Log log;
  std::atomic<bool> goes_on{false};
  auto group = dist::share_group<HeldGroup>(log);
  const std::weak_ptr<HeldGroup> watched = group;
  group->let_end(1);
  group->submit("a call", {}, [held = group, &goes_on] {
    while (!goes_on) std::this_thread::sleep_for(milliseconds(1));
  });
  group.reset();
  EXPECT_FALSE(watched.expired());
  goes_on = true;
  wait_for(log, "end1 ended ");  // on another thread, after the call
}

}  // namespace
}  // namespace gradus
