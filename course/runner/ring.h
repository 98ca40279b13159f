// Ranks that are fibers, of which one runs until it has to wait for a message. Where all wait, that
// is a deadlock, and it is found at once.
#pragma once

#include <ucontext.h>

#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "runner/runner.h"

constexpr size_t kStack = 1 << 20;  // bytes

struct Stopped {};

// A rank's numbers, between others that must not change.
class Guarded {
 public:
  explicit Guarded(const std::vector<float>& values) : all_(values) {
    all_.insert(all_.begin(), kGuard, kGuardValue), all_.insert(all_.end(), kGuard, kGuardValue);
  }
  float* data() { return all_.data() + kGuard; }
  long size() const { return static_cast<long>(all_.size() - 2 * kGuard); }
  std::vector<float> take() const {
    for (size_t i = 0; i < kGuard; ++i)
      if (all_[i] != kGuardValue || all_[all_.size() - 1 - i] != kGuardValue)
        throw std::runtime_error("it wrote outside of its data");
    return {all_.begin() + kGuard, all_.end() - kGuard};
  }

 private:
  static constexpr size_t kGuard = 16;
  static constexpr float kGuardValue = 12345;
  std::vector<float> all_;
};

class Ring;

class Rank final : public course::Link {
 public:
  Rank(Ring& ring, int number) : ring_(ring), number_(number) {}
  int rank() const override { return number_; }
  int size() const override;
  void send(const float* from, long n) override;
  void receive(float* to, long n) override;

  std::deque<std::vector<float>> inbox;  // from the left
  std::string problem;
  bool started = false, waits = false, ended = false;
  long sent = 0, received = 0, messages = 0;  // numbers, and how many sends
  ucontext_t context{};
  std::unique_ptr<char[]> stack{new char[kStack]};

 private:
  friend Ring;
  Ring& ring_;
  int number_;
};

class Ring {
 public:
  // body: what each rank does. task: the one whose stub may be called.
  Ring(long size, const char* task, std::function<void(course::Link&)> body)
      : task_(task), body_(std::move(body)) {
    for (int r = 0; r < size; ++r) ranks.push_back(std::make_unique<Rank>(*this, r));
  }

  // Runs all ranks to their end. Of those that can run, the one that comes first in `order` does.
  // take_turns: a rank that has received gives way to the next one, as a thread may: what ranks
  // share is then changed under its hands.
  void run(const std::vector<long>& order, bool take_turns = false) {
    take_turns_ = take_turns;
    while (Rank* const next = choose(order)) resume(*next);
    const std::string stuck = waiting();
    stop_ = true;
    for (const auto& each : ranks)  // their receive throws, so that they end
      if (each->started && !each->ended) resume(*each);
    for (const auto& each : ranks)
      if (each->problem == "not implemented") course::not_implemented(task_);
    for (const auto& each : ranks)
      if (!each->problem.empty())
        throw std::runtime_error("rank " + std::to_string(each->rank()) + ": " + each->problem);
    if (!stuck.empty()) throw std::runtime_error("deadlock: " + stuck);
    for (const auto& each : ranks)
      if (!each->inbox.empty())
        throw std::runtime_error("rank " + std::to_string(each->rank()) +
                                 " ended before it received all messages of its left neighbour");
  }

  void wait(Rank& rank) {
    if (!stop_) {
      rank.waits = true;
      swapcontext(&rank.context, &main_);
      rank.waits = false;
    }
    if (stop_) throw Stopped();
  }

  void give_way(Rank& rank) {
    if (take_turns_ && !stop_) swapcontext(&rank.context, &main_);
  }

  std::vector<std::unique_ptr<Rank>> ranks;

 private:
  Rank* choose(const std::vector<long>& order) {
    for (size_t k = 0; k < order.size(); ++k) {
      const size_t place = (first_ + k) % order.size();
      Rank& rank = *ranks.at(static_cast<size_t>(order[place]));
      if (rank.ended || !rank.problem.empty() || (rank.waits && rank.inbox.empty())) continue;
      if (take_turns_) first_ = place + 1;
      return &rank;
    }
    return nullptr;
  }

  std::string waiting() const {
    std::string out;
    for (const auto& each : ranks)
      if (each->waits)
        out += (out.empty() ? "rank " : ", rank ") + std::to_string(each->rank()) +
               " waits for a message";
    return out;
  }

  void resume(Rank& rank) {
    if (!rank.started) {
      rank.started = true;
      getcontext(&rank.context);
      rank.context.uc_stack.ss_sp = rank.stack.get();
      rank.context.uc_stack.ss_size = kStack;
      rank.context.uc_link = &main_;
      starting_ = &rank;
      makecontext(&rank.context, enter, 0);
    }
    swapcontext(&main_, &rank.context);
  }

  static void enter() {
    Rank& rank = *starting_;
    try {
      rank.ring_.body_(rank);
    } catch (const Stopped&) {
    } catch (const course::NotImplemented&) {
      rank.problem = "not implemented";
    } catch (const std::exception& error) {
      rank.problem = error.what();
    }
    rank.ended = true;
  }

  inline static Rank* starting_ = nullptr;
  const char* task_;
  std::function<void(course::Link&)> body_;
  ucontext_t main_{};
  bool stop_ = false, take_turns_ = false;
  size_t first_ = 0;  // where choose() begins to look in the order
};

inline int Rank::size() const { return static_cast<int>(ring_.ranks.size()); }

inline void Rank::send(const float* from, long n) {
  if (n < 0) throw std::runtime_error("send: a negative number of elements");
  Rank& right = *ring_.ranks[static_cast<size_t>(number_ + 1) % ring_.ranks.size()];
  right.inbox.emplace_back(from, from + n);
  sent += n;
  ++messages;
}

inline void Rank::receive(float* to, long n) {
  while (inbox.empty()) ring_.wait(*this);
  const std::vector<float> message = std::move(inbox.front());
  inbox.pop_front();
  if (static_cast<long>(message.size()) != n)
    throw std::runtime_error("receives " + std::to_string(n) +
                             " numbers, but the message of the left neighbour has " +
                             std::to_string(message.size()));
  for (const float each : message) *to++ = each;
  received += n;
  ring_.give_way(*this);
}
