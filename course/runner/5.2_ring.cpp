// Runs task 5.2 in a ring, or with "huge" at one of its ranks.
#include "runner/huge_link.h"

namespace {

void run_huge(const Message& in, Message& out) {
  const long ranks = in.number("ranks"), n = in.number("huge");
  HugeLink link(static_cast<int>(ranks));
  HugeArray data(n, ranks);
  mark(in, data.data());
  link.run(out, [&] { course::all_reduce(link, data.data(), n); });
}

}  // namespace

void run(const Message& in, Message& out) {
  if (in.has("huge")) return run_huge(in, out);
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
  ring.run(in.longs("order"), in.has("turns"));
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
