// Failure, and the watch of ranks that are threads of one process.
#include "gradus/distributed/job/watch.h"

#include "gradus/distributed/job/shared_monitor.h"

namespace gradus::distributed {

void Failure::check() const {
  if (happened()) throw DistributedError(message_);
}

void Failure::happen(const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (happened()) return;
  message_ = message;
  happened_.store(true, std::memory_order_release);
  for (const auto& listener : listeners_) listener();
}

Failure::Handle Failure::subscribe(std::function<void()> f) {
  const std::lock_guard lock(mutex_);
  if (happened()) f();
  return listeners_.insert(listeners_.end(), std::move(f));
}

void Failure::unsubscribe(Handle handle) {
  const std::lock_guard lock(mutex_);
  listeners_.erase(handle);
}

SharedWatch::SharedWatch(std::shared_ptr<SharedMonitor> shared, int rank)
    : Watch(shared->failure, shared->timeout), shared_(std::move(shared)), rank_(rank) {}

// The listeners run after the monitor's lock is free again.
template <class F>
void SharedWatch::tell(F f) {
  std::optional<std::string> message;
  {
    const std::lock_guard lock(shared_->mutex);
    f(shared_->monitor);
    message = shared_->monitor.failure();
  }
  if (message) failure().happen(*message);
}

void SharedWatch::open(const std::string& group, const std::vector<int>& ranks) {
  tell([&](Monitor& monitor) { monitor.open(rank_, group, ranks); });
}
void SharedWatch::start(const std::string& group, uint64_t sequence, const std::string& call) {
  tell([&](Monitor& monitor) { monitor.start(rank_, group, sequence, call, Clock::now()); });
}
void SharedWatch::finish(const std::string& group, uint64_t sequence) {
  tell([&](Monitor& monitor) { monitor.finish(rank_, group, sequence); });
}
void SharedWatch::leave() {
  tell([&](Monitor& monitor) { monitor.leave(rank_); });
}
void SharedWatch::give_up(const std::string& why) {
  tell([&](Monitor& monitor) { monitor.lose(rank_, why); });
}
void SharedWatch::look() {
  tell([&](Monitor& monitor) { monitor.check_time(Clock::now()); });
}

}  // namespace gradus::distributed
