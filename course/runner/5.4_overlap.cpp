// Runs task 5.4: ranks compute gradients and send buckets under a virtual clock.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/parallel.h"
#include "runner/runner.h"

namespace {

std::string name_of(int bucket) { return "bucket " + std::to_string(bucket); }

// What one rank sends and waits for in one step.
class Recorder final : public course::Sender {
 public:
  explicit Recorder(const course::Buckets& buckets) : waited(static_cast<size_t>(buckets.count)), bucket_of_(buckets.bucket_of),
        count_(buckets.count), ready_(bucket_of_.size()), sent_(waited) {}

  void send(int bucket) override {
    check(bucket);
    if (sent_[static_cast<size_t>(bucket)]) throw std::runtime_error(name_of(bucket) + " was sent twice");
    sent_[static_cast<size_t>(bucket)] = true;
    for (size_t p = 0; p < bucket_of_.size() && !at_end; ++p)
      if (bucket_of_[p] == bucket && !ready_[p])
        throw std::runtime_error(name_of(bucket) + " was sent before the gradient of parameter " + std::to_string(p) + " had come");
    order.push_back(bucket), times.push_back(now);
  }

  void wait(int bucket) override {
    check(bucket);
    if (!sent_[static_cast<size_t>(bucket)]) throw std::runtime_error("it waits for " + name_of(bucket) + ", which was never sent");
    if (!at_end) throw std::runtime_error("it waits while backward goes on");
    if (order.size() < sent_.size()) throw std::runtime_error("it waits for " + name_of(bucket) + " before it has sent all others");
    waited[static_cast<size_t>(bucket)] = true;
  }

  void set_ready(long parameter) { ready_[static_cast<size_t>(parameter)] = true; }

  long now = 0;
  bool at_end = false;
  std::vector<bool> waited;
  std::vector<int> order;
  std::vector<long> times;

 private:
  void check(int bucket) const {
    if (bucket < 0 || bucket >= count_) throw std::runtime_error("there is no " + name_of(bucket));
  }
  const std::vector<int> bucket_of_;
  int count_;
  std::vector<bool> ready_, sent_;
};

}  // namespace

// `ready` holds the parameters in the order in which their gradients come, for all ranks one after the other, and
// `at` the times of this. A bucket goes over the wire when all ranks have sent it, and one at a time.
void run(const Message& in, Message& out) {
  const std::vector<long> bucket_of = in.longs("bucket_of"), ready = in.longs("ready"), at = in.longs("at");
  const std::vector<long> durations = in.longs("durations");
  const long ranks = in.number("ranks"), events = static_cast<long>(ready.size()) / ranks, end_of_backward = in.number("end");
  std::vector<course::Buckets> buckets(static_cast<size_t>(ranks));
  for (auto& each : buckets) {
    each.bucket_of.assign(bucket_of.begin(), bucket_of.end());
    each.count = static_cast<int>(durations.size());
    if (in.has("stale")) each.missing = {3, -1, 7, 2, 1, 0, 9}, each.next = 1;
  }
  std::vector<size_t> by_time(ready.size());  // all ranks' gradients as they come, which is in turns
  std::iota(by_time.begin(), by_time.end(), 0);
  std::stable_sort(by_time.begin(), by_time.end(), [&](size_t a, size_t b) { return at[a] < at[b]; });
  std::vector<long> order, sent_at, ends, not_waited_for;
  for (long step = 0; step < in.number("steps"); ++step) {
    std::vector<Recorder> recorders;
    for (course::Buckets& mine : buckets) recorders.emplace_back(mine);
    for (course::Buckets& mine : buckets) course::begin_step(mine);
    for (const size_t i : by_time) {
      const size_t rank = i / static_cast<size_t>(events);
      recorders[rank].now = at[i];
      recorders[rank].set_ready(ready[i]);
      course::on_ready(buckets[rank], static_cast<int>(ready[i]), recorders[rank]);
    }
    for (size_t rank = 0; rank < buckets.size(); ++rank) {
      Recorder& recorder = recorders[rank];
      recorder.now = end_of_backward, recorder.at_end = true;
      course::end_step(buckets[rank], recorder);
      for (size_t b = 0; b < durations.size(); ++b)
        if (!recorder.waited[b]) not_waited_for.push_back(static_cast<long>(b));
      order.insert(order.end(), recorder.order.begin(), recorder.order.end());
      sent_at.insert(sent_at.end(), recorder.times.begin(), recorder.times.end());
    }
    // The clock: the wire takes what all ranks have sent, as long as they agree.
    long wire = 0;
    std::vector<long> done(durations.size(), -1);
    for (size_t k = 0; k < recorders[0].order.size(); ++k) {
      const int bucket = recorders[0].order[k];
      long start = wire;
      for (const Recorder& each : recorders) {
        if (k >= each.order.size() || each.order[k] != bucket)
          throw std::runtime_error("deadlock: the ranks do not send the same buckets in the same order");
        start = std::max(start, each.times[k]);
      }
      done[static_cast<size_t>(bucket)] = wire = start + durations[static_cast<size_t>(bucket)];
    }
    long end = end_of_backward;
    for (const Recorder& each : recorders)
      for (size_t b = 0; b < done.size(); ++b)
        if (each.waited[b]) end = std::max(end, done[b]);
    ends.push_back(end);
  }
  out.longs("order", order);
  out.longs("sent at", sent_at);
  out.longs("ends", ends);
  out.longs("not waited for", not_waited_for);
}
