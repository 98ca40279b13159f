// Watch: each rank reports its calls to it, and hears from it when the job has failed.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gradus/distributed/job/clock.h"
#include "gradus/distributed/job/error.h"

namespace gradus::distributed {

// The failure of a job: one message for everyone who waits.
class Failure {
 public:
  bool happened() const { return happened_.load(std::memory_order_acquire); }
  // Errors: DistributedError with the message, where it has happened.
  void check() const;
  // The first message counts.
  void happen(const std::string& message);

  // Calls f when it happens, from the thread that finds out; at once where it has happened.
  using Handle = std::list<std::function<void()>>::iterator;
  Handle subscribe(std::function<void()> f);
  // f does not run after this returns, and will not be called.
  void unsubscribe(Handle handle);

 private:
  std::atomic<bool> happened_ = false;
  std::mutex mutex_;  // guards what follows; message_ is constant once happened_ is set
  std::string message_;
  std::list<std::function<void()>> listeners_;
};

// One rank's view of the job. Reports do not wait.
class Watch {
 public:
  Watch(std::shared_ptr<Failure> failure, Milliseconds timeout)
      : failure_(std::move(failure)), timeout_(timeout) {}
  virtual ~Watch() = default;

  // The functions of Monitor, for this rank.
  virtual void open(const std::string& group, const std::vector<int>& ranks) = 0;
  virtual void start(const std::string& group, uint64_t sequence, const std::string& call) = 0;
  virtual void finish(const std::string& group, uint64_t sequence) = 0;
  virtual void leave() = 0;
  // Ends the job, since this rank gives up. `why` is the rest of a sentence that begins "rank 1 ".
  virtual void give_up(const std::string& why) = 0;
  // Code that waits for other ranks calls it from time to time.
  virtual void look() {}

  Failure& failure() const { return *failure_; }
  Milliseconds timeout() const { return timeout_; }

 private:
  std::shared_ptr<Failure> failure_;
  Milliseconds timeout_;
};

struct SharedMonitor;

class SharedWatch final : public Watch {
 public:
  SharedWatch(std::shared_ptr<SharedMonitor> shared, int rank);
  void open(const std::string& group, const std::vector<int>& ranks) override;
  void start(const std::string& group, uint64_t sequence, const std::string& call) override;
  void finish(const std::string& group, uint64_t sequence) override;
  void leave() override;
  void give_up(const std::string& why) override;
  void look() override;

 private:
  template <class F>
  void tell(F f);

  std::shared_ptr<SharedMonitor> shared_;
  int rank_;
};

}  // namespace gradus::distributed
