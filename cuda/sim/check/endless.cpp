// Stops kernels that never end.
#include "gradus/cuda/sim/check/endless.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "gradus/cuda/sim/check/faults.h"
#include "gradus/cuda/sim/check/mistake.h"

namespace gradus::cuda::sim {

using Seconds = std::chrono::duration<double>;

namespace {

// A thread that works may take longer than one that waits for another.
Seconds longest_turn() { return std::max(3 * patience(), Seconds(1)); }

Seconds longest_silence() { return std::max(10 * patience(), Seconds(2)); }

// The processor time of the thread: waiting for a core or for a debugger does not count.
Seconds time_worked(pthread_t thread) {
  clockid_t clock;
  timespec time{};
  if (pthread_getcpuclockid(thread, &clock) == 0) clock_gettime(clock, &time);
  return Seconds(static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec));
}

class Watchdog {
 public:
  void add(const Worker& worker) {
    const std::lock_guard lock(mutex_);
    try {
      if (!running_) std::thread([this] { look(); }).detach();
      running_ = true;
    } catch (const std::system_error&) {  // the next launch tries again
    }
    watched_.push_back({pthread_self(), &worker, worker.turns(), time_worked(pthread_self())});
  }
  void remove(const Worker& worker) {
    const std::lock_guard lock(mutex_);
    std::erase_if(watched_, [&](const Watched& each) { return each.worker == &worker; });
  }

 private:
  struct Watched {
    pthread_t thread;
    const Worker* worker;
    uint64_t turns;
    Seconds last_turn_at;
  };

  [[noreturn]] void look() {
    for (;;) {
      std::this_thread::sleep_for(std::max(patience(), Seconds(.2)));
      const std::lock_guard lock(mutex_);
      for (Watched& each : watched_) {
        const uint64_t turns = each.worker->turns();
        const Seconds now = time_worked(each.thread);
        if (turns != each.turns) each.last_turn_at = now;
        each.turns = turns;
        if (now - each.last_turn_at > longest_silence()) end_for_endless(each.thread);
      }
    }
  }

  std::mutex mutex_;
  bool running_ = false;
  std::vector<Watched> watched_;
};
// The thread never ends, like that of the runner of launches, and a forked child lacks it.
Watchdog& watchdog() {
  static std::atomic<Watchdog*> one = [] {
    pthread_atfork(nullptr, nullptr, [] { one.store(new Watchdog); });
    return new Watchdog;
  }();
  return *one;
}

}  // namespace

LookedAfter::LookedAfter(const Worker& worker) : worker_(worker) { watchdog().add(worker); }
LookedAfter::~LookedAfter() { watchdog().remove(worker_); }

void Worker::look_at_clock(uintptr_t pc) {
  const Unwatched guard;
  const Seconds now = time_worked(pthread_self());
  if (turns() != last_turn_) {
    last_turn_ = turns();
    last_turn_at_ = now;
  }
  // The others get less time once one block was given up.
  if (now - last_turn_at_ < longest_turn() / (launch->gave_up ? 100 : 1)) return;
  launch->gave_up = true;
  report_here(Kind::stuck, "goes on", pc, [] {
    std::ostringstream out;
    out << "the thread has worked for " << longest_turn().count()
        << " s without a barrier or its end; if it needs so long, raise GRADUS_SIM_PATIENCE";
    return out.str();
  });
  stop_block();
}

}  // namespace gradus::cuda::sim
