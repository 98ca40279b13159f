// Metric::sync: gathers lists of any length from all ranks.
#include "gradus/watch/metrics/metric.h"

#include <algorithm>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"

namespace gradus::metrics {

namespace {
[[noreturn]] void fail_sync() {
  fail<NotImplementedError>(
      "sync: this metric has no figure of several ranks; use one that adds up, such as MeanMetric");
}
}  // namespace

Tensor Metric::state() const { fail_sync(); }
void Metric::take_states(const Tensors&) { fail_sync(); }

void Metric::join_ranks(const std::function<Tensors(const Tensor&)>& gather) {
  const NoGradGuard no_grad;
  const Tensor mine = state();
  std::vector<int64_t> lengths;
  for (const Tensor& length : gather(full({1}, mine.numel(), kLong)))
    lengths.push_back(length.item<int64_t>());
  // Ranks may have counted different numbers of values: all send as many as the one with most.
  const int64_t most = *std::max_element(lengths.begin(), lengths.end());
  Tensors all = gather(cat({mine, zeros({most - mine.numel()}, kDouble)}));
  for (size_t rank = 0; rank < all.size(); ++rank)
    all[rank] = all[rank].to(Device(kCPU)).slice(0, 0, lengths[rank]);
  take_states(all);
}

}  // namespace gradus::metrics
