// Runs task 5.7: ranks meet in each call of their group, whose bytes are those of a ring; memory is
// counted.
#include <algorithm>
#include <string>

#include "core/sharded.h"
#include "runner/huge_array.h"
#include "runner/memory.h"
#include "runner/ring.h"

namespace {

struct Call {
  std::string what;
  long n = 0, length = 0;  // of all numbers, and of the rank's part
  const float* from = nullptr;
  float* to = nullptr;
};

// What a rank's code holds; what the group needs between pause and resume does not count.
struct Usage {
  void resume() { start = bytes_held(), forget_most(); }
  void pause() {
    most = std::max(most, held + most_bytes_held() - start);
    held += bytes_held() - start;
  }
  long held = 0, most = 0, start = 0;  // bytes
};

// All ranks' calls; the last rank that comes does the work for all.
struct Meeting {
  explicit Meeting(long ranks) : calls(static_cast<size_t>(ranks)) {}

  // The numbers of a part, counted modulo the number of ranks.
  long length(long part, long n) const {
    const auto ranks = static_cast<long>(calls.size());
    return n / ranks + (part % ranks < n % ranks);
  }

  void work() const {
    std::vector<float> all(static_cast<size_t>(calls[0].n));
    long begin = 0;
    for (const Call& call : calls)
      if (call.what == "all_gather")
        std::copy_n(call.from, call.length, all.begin() + begin), begin += call.length;
      else
        for (long i = 0; i < call.n; ++i) all[static_cast<size_t>(i)] += call.from[i];
    begin = 0;
    for (const Call& call : calls) {
      const bool part = call.what == "reduce_scatter";
      std::copy_n(all.begin() + (part ? begin : 0), part ? call.length : call.n, call.to);
      begin += call.length;
    }
  }

  std::vector<Call> calls;
  size_t came = 0;
};

class Member final : public course::Group {
 public:
  Member(course::Link& link, Ring& ring, Meeting& meeting)
      : link_(link), ring_(ring), meeting_(meeting) {}

  int rank() const override { return link_.rank(); }
  int size() const override { return link_.size(); }
  void all_reduce(float* data, long n) override {
    meet({"all_reduce", n, meeting_.length(rank(), n), data, data});
    sent += 2 * n - meeting_.length(rank() + 1, n) - meeting_.length(rank() + 2, n);
  }
  void reduce_scatter(float* out, long length, const float* data, long n) override {
    meet({"reduce_scatter", n, length, data, out});
    sent += n - meeting_.length(rank(), n);
  }
  void all_gather(float* out, long n, const float* part, long length) override {
    meet({"all_gather", n, length, part, out});
    sent += n - meeting_.length(rank() + 1, n);
  }

  Usage usage;
  long sent = 0, calls = 0;  // numbers, and how many calls

 private:
  struct Paused {
    explicit Paused(Usage& of) : usage(of) { usage.pause(); }
    ~Paused() { usage.resume(); }
    Usage& usage;
  };

  void meet(const Call& call) {
    const Paused paused(usage);
    ++calls;
    const std::string mine = call.what + " of " + std::to_string(call.n) + " numbers";
    if (call.n < 0) throw std::runtime_error(mine);
    if (const long length = meeting_.length(rank(), call.n); length != call.length)
      throw std::runtime_error(mine + ": length is " + std::to_string(call.length) +
                               ", but its part has " + std::to_string(length));
    for (const Call& other : meeting_.calls)
      if (meeting_.came > 0 && other.n >= 0 && (other.what != call.what || other.n != call.n))
        throw std::runtime_error("it calls " + mine + ", but another rank " + other.what + " of " +
                                 std::to_string(other.n));
    if (meeting_.came == 0)
      for (Call& other : meeting_.calls) other.n = -1;
    meeting_.calls[static_cast<size_t>(rank())] = call;
    if (++meeting_.came < meeting_.calls.size()) return link_.receive(nullptr, 0);
    meeting_.came = 0;
    meeting_.work();
    for (const auto& other : ring_.ranks)
      if (other->rank() != rank()) other->inbox.emplace_back();
  }

  course::Link& link_;
  Ring& ring_;
  Meeting& meeting_;
};

// The last rank of many with more numbers than fit into memory. All means are 2.
class HugeGroup final : public course::Group {
 public:
  HugeGroup(int size, long n) : size_(size), n_(n) {}
  int rank() const override { return size_ - 1; }
  int size() const override { return size_; }
  void all_reduce(float*, long) override {
    throw std::bad_alloc();
  }  // it needs a copy of all gradients
  void reduce_scatter(float* out, long length, const float*, long n) override {
    check("reduce_scatter", length, n);
    std::fill_n(out, length, 2.0f * static_cast<float>(size_));
  }
  void all_gather(float* out, long n, const float* part, long length) override {
    check("all_gather", length, n);
    std::copy_n(part, length, out + n - length);
  }

 private:
  void check(const std::string& what, long length, long n) const {
    if (n != n_ || length != n_ / size_)
      throw std::runtime_error(what + " of " + std::to_string(n) +
                               " numbers, of which the part has " + std::to_string(length) +
                               ": expected " + std::to_string(n_) + " and " +
                               std::to_string(n_ / size_));
  }
  int size_;
  long n_;
};

void run_huge(const Message& in, Message& out, const course::Adam& adam) {
  const long ranks = in.number("ranks"), n = in.number("huge");
  const HugeArray weights(n, ranks), gradient(n, ranks);
  mark(in, weights.data());
  HugeGroup group(static_cast<int>(ranks), n);
  const bool full = wants_too_much([&] {
    course::ShardedAdam optimizer(group, n, adam);
    optimizer.step(weights.data(), gradient.data());
  });
  out.longs("full", {full});
  std::vector<float> moved;
  for (const long place : in.longs("places")) moved.push_back(weights.data()[place]);
  out.floats("w", moved);
}

}  // namespace

void run(const Message& in, Message& out) {
  const course::Adam adam{in.real("lr"), in.real("beta1"), in.real("beta2"), in.real("epsilon")};
  if (in.has("huge")) return run_huge(in, out, adam);
  const long ranks = in.number("ranks"), n = in.number("n"), steps = in.number("steps");
  const std::vector<float> weights = in.floats("w"), all = in.floats("gradients");
  std::vector<Guarded> own, gradients;  // of each rank; of each step and rank
  for (long r = 0; r < ranks; ++r) own.emplace_back(weights);
  for (long i = 0; i < steps * ranks; ++i)
    gradients.emplace_back(std::vector<float>(all.begin() + i * n, all.begin() + i * n + n));
  std::vector<std::unique_ptr<Member>> members;
  std::vector<long> held(static_cast<size_t>(ranks)), sent, calls, most;  // held: after a step
  Ring ring(ranks, "5.7", [&](course::Link& link) {
    const auto r = static_cast<size_t>(link.rank());
    Member& me = *members[r];
    me.usage.resume();
    course::ShardedAdam optimizer(me, n, adam);
    for (long step = 0; step < steps; ++step) {
      Guarded& gradient = gradients[static_cast<size_t>(step * ranks) + r];
      optimizer.step(own[r].data(), gradient.data());
      me.usage.pause();
      held[r] = me.usage.held;
      own[r].take(), gradient.take();
      me.usage.resume();
    }
  });
  Meeting meeting(ranks);
  for (const auto& each : ring.ranks)
    members.push_back(std::make_unique<Member>(*each, ring, meeting));
  ring.run(in.longs("order"));
  std::vector<float> values, kept;
  for (const Guarded& each : own)
    for (const float value : each.take()) values.push_back(value);
  for (const Guarded& each : gradients)
    for (const float value : each.take()) kept.push_back(value);
  for (const auto& each : members)
    sent.push_back(4 * each->sent), calls.push_back(each->calls), most.push_back(each->usage.most);
  out.floats("w", values);
  out.floats("kept", kept);
  out.longs("sent", sent);
  out.longs("calls", calls);
  out.longs("held", held);
  out.longs("most", most);
}
