// The rendezvous of the threads of a group: how they meet, exchange tensors and leave together.
#include "gradus/distributed/threads/rendezvous.h"

#include <algorithm>

namespace gradus::distributed {

Rendezvous::Rendezvous(int size, std::shared_ptr<Failure> failure)
    : size_(size),
      failure_(std::move(failure)),
      shown_(static_cast<size_t>(size)),
      hands_(static_cast<size_t>(size)) {
  listener_ = failure_->subscribe([this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
}

Rendezvous::~Rendezvous() { failure_->unsubscribe(listener_); }

template <class Condition>
void Rendezvous::wait(std::unique_lock<std::mutex>& lock, Watch& watch, Condition condition) {
  const auto period = std::clamp(watch.timeout() / 8, Milliseconds(1), Milliseconds(500));
  while (!condition()) {
    failure_->check();
    if (changed_.wait_for(lock, period) == std::cv_status::no_timeout) continue;
    lock.unlock();  // the watch may call the listener
    watch.look();
    lock.lock();
  }
}

void Rendezvous::meet(Watch& watch) {
  std::unique_lock lock(mutex_);
  const uint64_t meeting = meetings_;
  if (++present_ == size_) {
    present_ = 0;
    ++meetings_;
    changed_.notify_all();
  }
  wait(lock, watch, [&] { return meetings_ != meeting; });
}

void Rendezvous::offer(int from, const Tensor& x, Watch& watch) {
  std::unique_lock lock(mutex_);
  wait(lock, watch, [&] { return !hand(from).full; });
  hand(from) = {x, true};
  changed_.notify_all();
}

Tensor Rendezvous::take(int from, Watch& watch) {
  std::unique_lock lock(mutex_);
  wait(lock, watch, [&] { return hand(from).full; });
  return hand(from).offered;
}

void Rendezvous::release(int from) {
  const std::lock_guard lock(mutex_);
  hand(from) = {};
  changed_.notify_all();
}

void Rendezvous::await_release(int from, Watch& watch) {
  std::unique_lock lock(mutex_);
  wait(lock, watch, [&] { return !hand(from).full; });
}

void Rendezvous::post(Mail mail) {
  const std::lock_guard lock(mutex_);
  mail_.push_back(std::move(mail));
  changed_.notify_all();
}

std::list<Rendezvous::Mail>::iterator Rendezvous::find(int from, int to, int tag) {
  return std::find_if(mail_.begin(), mail_.end(), [&](const Mail& mail) {
    return mail.to == to && mail.tag == tag && (from < 0 || mail.from == from);
  });
}

std::optional<Rendezvous::Mail> Rendezvous::collect(int from, int to, int tag) {
  const std::lock_guard lock(mutex_);
  const auto at = find(from, to, tag);
  if (at == mail_.end()) return std::nullopt;
  Mail mail = std::move(*at);
  mail_.erase(at);
  return mail;
}

bool Rendezvous::await_mail(int from, int to, int tag, Watch& watch) {
  const Clock::time_point end = Clock::now() + watch.timeout();
  const auto here = [&] { return find(from, to, tag) != mail_.end(); };
  std::unique_lock lock(mutex_);
  wait(lock, watch, [&] { return here() || Clock::now() >= end; });
  return here();
}

}  // namespace gradus::distributed
