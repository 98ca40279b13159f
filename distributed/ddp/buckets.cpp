// Gradient bucketing: fills buckets with parameters in a given order.
#include "gradus/distributed/ddp/buckets.h"

#include "gradus/autograd/engine/pieces.h"

namespace gradus::distributed {

std::vector<Bucket> make_buckets(const Tensors& parameters, const std::vector<size_t>& order,
                                 size_t first_bytes, size_t bytes) {
  std::vector<Bucket> buckets;
  size_t filled = 0;
  for (const size_t i : order) {
    const Tensor& parameter = parameters[i];
    const auto fits = [&] {
      const Tensor& other = parameters[buckets.back().parameters[0]];
      return other.dtype() == parameter.dtype() && other.device() == parameter.device() &&
             filled + parameter.nbytes() <= (buckets.size() == 1 ? first_bytes : bytes);
    };
    if (buckets.empty() || !fits()) {
      buckets.emplace_back();
      filled = 0;
    }
    buckets.back().parameters.push_back(i);
    buckets.back().numel += parameter.numel();
    filled += parameter.nbytes();
  }
  for (Bucket& bucket : buckets) {
    const bool alone = bucket.parameters.size() == 1;
    bucket.ends = alone ? autograd::piece_ends(parameters[bucket.parameters[0]])
                        : std::vector<int64_t>{bucket.numel};
  }
  return buckets;
}

}  // namespace gradus::distributed
