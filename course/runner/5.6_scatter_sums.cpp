// Runs task 5.6: with "parts" the numbers of each rank's part to all, else sums of data to parts. With "huge" at one rank.
#include "runner/huge_link.h"

namespace {

void run_huge(const Message& in, Message& out) {
  const long ranks = in.number("ranks"), n = in.number("huge");
  HugeLink link(static_cast<int>(ranks));
  HugeArray all(n, ranks);
  std::vector<float> part(static_cast<size_t>(n / ranks + 1));
  if (in.number("gathers") != 0) {
    mark(in, part.data());
    link.run(out, [&] { course::all_gather(link, all.data(), part.data(), n); });
  } else {
    mark(in, all.data());
    link.run(out, [&] { course::reduce_scatter(link, part.data(), all.data(), n); });
  }
}

}  // namespace

void run(const Message& in, Message& out) {
  if (in.has("huge")) return run_huge(in, out);
  const bool gathers = in.has("parts");
  const long ranks = in.number("ranks"), n = in.number("n");
  const std::vector<float> all = in.floats(gathers ? "parts" : "data");
  std::vector<Guarded> given, result;
  long part = 0;  // where the rank's part begins
  for (long r = 0; r < ranks; ++r) {
    const long length = n / ranks + (r < n % ranks), start = gathers ? part : r * n;
    given.emplace_back(
        std::vector<float>(all.begin() + start, all.begin() + start + (gathers ? length : n)));
    result.emplace_back(std::vector<float>(static_cast<size_t>(gathers ? n : length), 1000.0f));
    part += length;
  }
  Ring ring(ranks, "5.6", [&](course::Link& link) {
    Guarded &own = given[static_cast<size_t>(link.rank())],
            &gets = result[static_cast<size_t>(link.rank())];
    if (gathers)
      course::all_gather(link, gets.data(), own.data(), n);
    else
      course::reduce_scatter(link, gets.data(), own.data(), n);
    gets.take(), own.take();
  });
  ring.run(in.longs("order"), in.has("turns"));
  std::vector<float> values, kept;
  std::vector<long> sent, received, messages;
  for (const Guarded& each : result)
    for (const float value : each.take()) values.push_back(value);
  for (const Guarded& each : given)
    for (const float value : each.take()) kept.push_back(value);
  for (const auto& each : ring.ranks)
    sent.push_back(4 * each->sent), received.push_back(4 * each->received),
        messages.push_back(each->messages);
  out.floats("out", values);
  out.floats("kept", kept);
  out.longs("sent", sent);
  out.longs("received", received);
  out.longs("messages", messages);
}
