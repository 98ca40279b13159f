// Starting and joining threads, also in a process that was forked.
#include "gradus/tensor/base/thread.h"

#include <pthread.h>

#include <atomic>
#include <system_error>

namespace gradus::detail {

namespace {
std::atomic<int> forks{0};
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

std::thread start(const std::string& purpose, std::function<void()> f) {
  try {
    return std::thread(std::move(f));
  } catch (const std::system_error& error) {
    fail<ThreadError>(purpose, ": the system starts no more threads (", error.what(),
                      "); expected one more; raise the limits of `ulimit -u` and `ulimit -v`, or "
                      "use fewer threads");
  }
}
}  // namespace

HomeProcess::HomeProcess() : forks_(forks.load(std::memory_order_relaxed)) {}
bool HomeProcess::is_here() const { return forks_ == forks.load(std::memory_order_relaxed); }

Thread::Thread(const std::string& purpose, std::function<void()> f)
    : thread_(start(purpose, std::move(f))) {}

Thread& Thread::operator=(Thread&& other) noexcept {
  join();
  thread_ = std::move(other.thread_);
  home_ = other.home_;
  return *this;
}

bool Thread::is_here() const { return thread_.joinable() && home_.is_here(); }

void Thread::join() {
  if (is_here())
    thread_.join();
  else if (thread_.joinable())
    new std::thread(std::move(thread_));  // left behind by a fork: there is nobody to wait for
}

void start_detached(const std::string& purpose, std::function<void()> f) {
  start(purpose, std::move(f)).detach();
}

}  // namespace gradus::detail
