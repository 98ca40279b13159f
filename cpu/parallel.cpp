// The threads of the CPU's loops. The threads are the library's own. Those of OpenMP spin while
// they wait, whoever else needs the core, and a forked child hangs without them.
#include "gradus/cpu/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <vector>

#include "gradus/tensor/base/error.h"
#include "gradus/tensor/base/thread.h"
#include "gradus/tensor/base/threads.h"

namespace gradus::cpu {

namespace {

constexpr int kMostThreads = 256;

thread_local constinit bool in_loop = false;
thread_local constinit int chosen_threads = 0;  // 0: as many as there are by default

int default_threads() {
  static const int count = [] {
    const char* const text = std::getenv("OMP_NUM_THREADS");
    if (const int chosen = text ? std::atoi(text) : 0; chosen > 0) return chosen;
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
  }();
  return count;
}

// --- Waiting

using Clock = std::chrono::steady_clock;

inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Cores are scarce until this time: a thread that spun was put aside for another one.
std::atomic<Clock::rep> scarce_until{0};

// Waits for done() without sleeping, which saves some microseconds where the next loop follows
// soon. Whether done() is true now.
template <class Done>
bool spin(const Done& done) {
  constexpr std::chrono::microseconds kLongest(50), kPutAside(200);
  constexpr std::chrono::milliseconds kScarce(100);
  const Clock::time_point begin = Clock::now();
  if (begin.time_since_epoch().count() < scarce_until.load(std::memory_order_relaxed))
    return done();
  for (Clock::time_point last = begin; !done();) {
    for (int i = 0; i < 16; ++i) pause_briefly();
    const Clock::time_point now = Clock::now();
    if (now - last > kPutAside)
      scarce_until.store((now + kScarce).time_since_epoch().count(), std::memory_order_relaxed);
    if (now - begin > kLongest) return done();
    last = now;
  }
  return true;
}

// --- A loop

// The chunks of one loop, in a share for each thread.
class Loop {
 public:
  Loop(int64_t count, int shares, void (*body)(void*, int64_t), void* context)
      : count_(count), shares_(shares), body_(body), context_(context) {
    for (int i = 0; i < shares; ++i) next_[static_cast<size_t>(i)].chunk = begin_of(i);
  }

  // Runs the chunks of a share, then those of other shares that nobody has begun. Consecutive loops
  // give a thread the same share, whose data its cache may hold.
  void run(int share) noexcept {
    in_loop = true;
    for (int i = 0; i < shares_; ++i) run_share((share + i) % shares_);
    in_loop = false;
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // Plain numbers, since an array of std::atomic would be written as a whole for each loop.
  struct alignas(64) Next {
    int64_t chunk;
  };

  int64_t begin_of(int share) const { return count_ * share / shares_; }

  void run_share(int share) {
    const int64_t end = begin_of(share + 1);
    const std::atomic_ref<int64_t> next(next_[static_cast<size_t>(share)].chunk);
    while (next.load(std::memory_order_relaxed) < end) {
      const int64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= end || failed_.load(std::memory_order_relaxed)) return;
      try {
        body_(context_, chunk);
      } catch (...) {
        if (!failed_.exchange(true)) error_ = std::current_exception();
      }
    }
  }

  const int64_t count_;
  const int shares_;
  void (*const body_)(void*, int64_t);
  void* const context_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  std::array<Next, kMostThreads> next_;
};

// --- Threads

// A thread that helps one loop at a time. It never ends.
class Worker {
 public:
  // Errors: ThreadError.
  Worker() {
    detail::start_detached("a loop on the CPU", [this] { serve(); });
  }

  // REQUIRES: it helps no loop.
  void help(Loop& loop, int share) {
    loop_ = &loop;
    share_ = share;
    become(State::called);
  }
  // Afterwards it does not know the loop. A worker that has not begun is not waited for: the other
  // threads have run its share.
  void dismiss() {
    State called = State::called;
    if (!state_.compare_exchange_strong(called, State::idle)) await(State::idle);
  }

 private:
  enum class State : int { idle, called, busy };

  void serve() {
    while (true) {
      await(State::called);
      State called = State::called;
      if (!state_.compare_exchange_strong(called, State::busy)) continue;
      loop_->run(share_);
      become(State::idle);
    }
  }

  void become(State state) {
    state_.store(state);
    if (sleepers_.load() == 0) return;
    { const std::lock_guard lock(mutex_); }
    changed_.notify_one();  // the caller or the thread itself waits, never both
  }

  void await(State state) {
    const auto is_there = [&] { return state_.load() == state; };
    if (spin(is_there)) return;
    std::unique_lock lock(mutex_);
    ++sleepers_;
    changed_.wait(lock, is_there);
    --sleepers_;
  }

  Loop* loop_ = nullptr;
  int share_ = 0;
  std::atomic<State> state_{State::idle};
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

// All workers, as many as the loop of most threads wanted. Loops of several threads share them.
class Workers {
 public:
  // Up to `wanted` that help no loop: fewer where other loops have them, or the system starts no
  // more.
  std::vector<Worker*> take(size_t wanted) {
    std::vector<Worker*> out;
    out.reserve(wanted);
    const std::lock_guard lock(mutex_);
    idle_.reserve(std::max(wanted, idle_.capacity()));  // put_back() allocates nothing
    try {
      for (; started_ < wanted; ++started_) idle_.push_back(new Worker);
    } catch (const ThreadError&) {
    }
    for (; !idle_.empty() && out.size() < wanted; idle_.pop_back()) out.push_back(idle_.back());
    return out;
  }
  void put_back(const std::vector<Worker*>& workers) {
    const std::lock_guard lock(mutex_);
    idle_.insert(idle_.end(), workers.rbegin(), workers.rend());  // the last one is taken first
  }

 private:
  std::mutex mutex_;
  std::vector<Worker*> idle_;
  size_t started_ = 0;
};

// Never destroyed, since its threads do not end. A forked child has none of them, and begins anew.
Workers* workers() {
  static std::atomic<Workers*> all = [] {
    pthread_atfork(nullptr, nullptr, [] { all.store(new Workers); });
    return new Workers;
  }();
  return all.load();
}

}  // namespace

int thread_count() { return in_loop ? 1 : std::min(get_num_threads(), kMostThreads); }

void run_chunks(int64_t count, void (*body)(void*, int64_t), void* context) {
  const auto threads = static_cast<size_t>(std::min<int64_t>(thread_count(), count));
  if (threads <= 1) {
    for (int64_t i = 0; i < count; ++i) body(context, i);
    return;
  }
  Workers& all = *workers();
  const std::vector<Worker*> helpers = all.take(threads - 1);
  Loop loop(count, static_cast<int>(helpers.size()) + 1, body, context);
  for (size_t i = 0; i < helpers.size(); ++i) helpers[i]->help(loop, static_cast<int>(i) + 1);
  loop.run(0);
  for (Worker* helper : helpers) helper->dismiss();
  all.put_back(helpers);
  loop.rethrow();
}

}  // namespace gradus::cpu

namespace gradus {

int get_num_threads() {
  return cpu::chosen_threads > 0 ? cpu::chosen_threads : cpu::default_threads();
}
void set_num_threads(int count) {
  check(count > 0, "set_num_threads: count is ", count, ", expected a positive number");
  cpu::chosen_threads = count;
}

namespace detail {
int usable_threads() { return cpu::thread_count(); }
void run_parts(int64_t count, const std::function<void(int64_t)>& part) {
  cpu::parallel_for(0, count, 1, [&](int64_t first, int64_t) { part(first); });
}
}  // namespace detail

}  // namespace gradus
