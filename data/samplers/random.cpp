// RandomSampler: the next indices of an order drawn anew.
#include "gradus/data/samplers/random.h"

#include <algorithm>

#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::samplers {

RandomSampler::RandomSampler(int64_t size, ScalarType index_dtype)
    : order_(randperm(size, index_dtype)) {}

void RandomSampler::reset(std::optional<size_t> new_size) {
  const auto size = static_cast<int64_t>(new_size.value_or(static_cast<size_t>(order_.numel())));
  order_ = randperm(size, order_.scalar_type());
  index_ = 0;
}

std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  const auto left = static_cast<size_t>(order_.numel() - index_);
  if (left == 0) return std::nullopt;
  const size_t count = std::min(batch_size, left);
  const Tensor batch = order_.narrow(0, index_, static_cast<int64_t>(count)).to(kLong);
  const auto* const first = batch.data_ptr<int64_t>();
  index_ += static_cast<int64_t>(count);
  return std::vector<size_t>(first, first + count);
}

}  // namespace gradus::data::samplers
