// Runs task 5.2: ranks are fibers, of which one runs until it has to wait for a message. Where all wait, that
// is a deadlock, and it is found at once.
#include <sys/mman.h>
#include <ucontext.h>

#include <deque>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/parallel.h"
#include "runner/runner.h"

namespace {

constexpr size_t kStack = 1 << 20;  // bytes
constexpr size_t kGuard = 16;       // numbers before and behind a rank's data, which must not change
constexpr float kGuardValue = 12345;

struct Stopped {};

class Ring;

class Rank final : public course::Link {
 public:
  Rank(Ring& ring, int number, std::vector<float> values) : data(std::move(values)), ring_(ring), number_(number) {
    data.insert(data.begin(), kGuard, kGuardValue), data.insert(data.end(), kGuard, kGuardValue);
  }
  int rank() const override { return number_; }
  int size() const override;
  void send(const float* from, long n) override;
  void receive(float* to, long n) override;

  std::vector<float> data;
  std::deque<std::vector<float>> inbox;  // from the left
  std::string problem;
  bool started = false, waits = false, ended = false;
  long sent = 0, received = 0, messages = 0;  // numbers, and how many sends
  ucontext_t context{};
  std::unique_ptr<char[]> stack{new char[kStack]};  // not written: pages that nobody touches cost nothing

 private:
  Ring& ring_;
  int number_;
};

class Ring {
 public:
  explicit Ring(std::vector<std::vector<float>> values) {
    for (auto& each : values) ranks.push_back(std::make_unique<Rank>(*this, static_cast<int>(ranks.size()), std::move(each)));
  }

  // Runs all ranks to their end. Of those that can run, the one that comes first in `order` does.
  void run(const std::vector<long>& order) {
    while (Rank* const next = choose(order)) resume(*next);
    const std::string stuck = waiting();
    stop_ = true;
    for (const auto& each : ranks)  // their receive throws, so that they end
      if (each->started && !each->ended) resume(*each);
    for (const auto& each : ranks)
      if (each->problem == "not implemented") course::not_implemented("5.2");
    for (const auto& each : ranks)
      if (!each->problem.empty()) throw std::runtime_error("rank " + std::to_string(each->rank()) + ": " + each->problem);
    if (!stuck.empty()) throw std::runtime_error("deadlock: " + stuck);
    for (const auto& each : ranks)
      if (!each->inbox.empty()) throw std::runtime_error("rank " + std::to_string(each->rank()) + " ended before it received all messages of its left neighbour");
  }

  void wait(Rank& rank) {
    if (!stop_) {
      rank.waits = true;
      swapcontext(&rank.context, &main_);
      rank.waits = false;
    }
    if (stop_) throw Stopped();
  }

  std::vector<std::unique_ptr<Rank>> ranks;

 private:
  Rank* choose(const std::vector<long>& order) const {
    for (const long i : order) {
      Rank& rank = *ranks.at(static_cast<size_t>(i));
      if (!rank.ended && rank.problem.empty() && (!rank.waits || !rank.inbox.empty())) return &rank;
    }
    return nullptr;
  }

  std::string waiting() const {
    std::string out;
    for (const auto& each : ranks)
      if (each->waits) out += (out.empty() ? "rank " : ", rank ") + std::to_string(each->rank()) + " waits for a message";
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
      course::all_reduce(rank, rank.data.data() + kGuard, static_cast<long>(rank.data.size() - 2 * kGuard));
      for (size_t i = 0; i < kGuard; ++i)
        if (rank.data[i] != kGuardValue || rank.data[rank.data.size() - 1 - i] != kGuardValue)
          throw std::runtime_error("it wrote outside of its data");
    } catch (const Stopped&) {
    } catch (const course::NotImplemented&) {
      rank.problem = "not implemented";
    } catch (const std::exception& error) {
      rank.problem = error.what();
    }
    rank.ended = true;
  }

  static Rank* starting_;
  ucontext_t main_{};
  bool stop_ = false;
};

Rank* Ring::starting_ = nullptr;

int Rank::size() const { return static_cast<int>(ring_.ranks.size()); }

void Rank::send(const float* from, long n) {
  if (n < 0) throw std::runtime_error("send: a negative number of elements");
  Rank& right = *ring_.ranks[static_cast<size_t>(number_ + 1) % ring_.ranks.size()];
  right.inbox.emplace_back(from, from + n);
  sent += n;
  ++messages;
}

void Rank::receive(float* to, long n) {
  while (inbox.empty()) ring_.wait(*this);
  const std::vector<float> message = std::move(inbox.front());
  inbox.pop_front();
  if (static_cast<long>(message.size()) != n)
    throw std::runtime_error("receives " + std::to_string(n) + " numbers, but the message of the left neighbour has " + std::to_string(message.size()));
  for (const float each : message) *to++ = each;
  received += n;
}

// The last rank of a ring, with more numbers than fit into memory: there is room for its last parts. It notes what it sends and
// is stopped after three steps.
class Huge final : public course::Link {
 public:
  Huge(int size, long n) : size_(size), bytes_((static_cast<size_t>(n) * sizeof(float) / kPage + 1) * kPage) {
    start_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    const size_t used = (static_cast<size_t>(n) / static_cast<size_t>(size) * sizeof(float) * 5 / kPage + 1) * kPage;
    if (start_ == MAP_FAILED || mprotect(start_ + bytes_ - used, used, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("the runner got no memory");
  }
  ~Huge() { munmap(start_, bytes_); }
  Huge(const Huge&) = delete;
  Huge& operator=(const Huge&) = delete;

  int rank() const override { return size_ - 1; }
  int size() const override { return size_; }
  void send(const float* from, long n) override {
    if (sent.size() == 3) throw Stopped();
    places.push_back(from - data()), sent.push_back(n);
  }
  void receive(float* to, long n) override {
    received.push_back(n);
    for (long i = 0; i < n; ++i) to[i] = 0;
  }
  float* data() const { return reinterpret_cast<float*>(start_); }

  std::vector<long> places, sent, received;

 private:
  static constexpr size_t kPage = 64 << 10;
  int size_;
  size_t bytes_;
  char* start_;
};

}  // namespace

void run(const Message& in, Message& out) {
  if (in.has("huge")) {
    Huge rank(static_cast<int>(in.number("ranks")), in.number("huge"));
    try {
      course::all_reduce(rank, rank.data(), in.number("huge"));
    } catch (const Stopped&) {
    }
    out.longs("places", rank.places);
    out.longs("sent", rank.sent);
    out.longs("received", rank.received);
    return;
  }
  const std::vector<float> all = in.floats("data");
  const long ranks = in.number("ranks"), n = static_cast<long>(all.size()) / ranks;
  std::vector<std::vector<float>> values;
  for (long r = 0; r < ranks; ++r) values.emplace_back(all.begin() + r * n, all.begin() + (r + 1) * n);
  Ring ring(std::move(values));
  ring.run(in.longs("order"));
  std::vector<float> result;
  std::vector<long> sent, received, messages;
  for (const auto& each : ring.ranks) {
    result.insert(result.end(), each->data.begin() + kGuard, each->data.end() - kGuard);
    sent.push_back(4 * each->sent), received.push_back(4 * each->received), messages.push_back(each->messages);
  }
  out.floats("data", result);
  out.longs("sent", sent);
  out.longs("received", received);
  out.longs("messages", messages);
}
