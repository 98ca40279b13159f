// Runs task 5.2 in a ring, or with "huge" at one of its ranks.
#include <sys/mman.h>

#include "runner/ring.h"

namespace {

// The last rank of a ring, with more numbers than fit into memory: there is room for its last
// parts. It notes what it sends and is stopped after three steps.
class Huge final : public course::Link {
 public:
  Huge(int size, long n)
      : size_(size), bytes_((static_cast<size_t>(n) * sizeof(float) / kPage + 1) * kPage) {
    start_ = static_cast<char*>(
        mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    const size_t used =
        (static_cast<size_t>(n) / static_cast<size_t>(size) * sizeof(float) * 5 / kPage + 1) *
        kPage;
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
  std::vector<Guarded> data;
  for (long r = 0; r < ranks; ++r)
    data.emplace_back(std::vector<float>(all.begin() + r * n, all.begin() + (r + 1) * n));
  Ring ring(ranks, "5.2", [&](course::Link& link) {
    Guarded& own = data[static_cast<size_t>(link.rank())];
    course::all_reduce(link, own.data(), own.size());
    own.take();
  });
  ring.run(in.longs("order"));
  std::vector<float> result;
  std::vector<long> sent, received, messages;
  for (const Guarded& each : data)
    for (const float value : each.take()) result.push_back(value);
  for (const auto& each : ring.ranks)
    sent.push_back(4 * each->sent), received.push_back(4 * each->received),
        messages.push_back(each->messages);
  out.floats("data", result);
  out.longs("sent", sent);
  out.longs("received", received);
  out.longs("messages", messages);
}
