// WeightedRandomSampler: the next of the indices that were drawn.
#include "gradus/data/samplers/weighted.h"

#include <algorithm>

#include "gradus/autograd/functions.h"

namespace gradus::data::samplers {

WeightedRandomSampler::WeightedRandomSampler(Tensor weights, int64_t num_samples, bool replacement)
    : weights_(std::move(weights)), num_samples_(num_samples), replacement_(replacement) {
  check(weights_.defined() && weights_.dim() == 1,
        "WeightedRandomSampler: weights is not one row of numbers; give one for each example");
  reset();
}

void WeightedRandomSampler::reset(std::optional<size_t> new_size) {
  if (new_size) num_samples_ = static_cast<int64_t>(*new_size);
  drawn_ = weights_.multinomial(num_samples_, replacement_).cpu();
  index_ = 0;
}

std::optional<std::vector<size_t>> WeightedRandomSampler::next(size_t batch_size) {
  const auto left = static_cast<size_t>(drawn_.numel() - index_);
  if (left == 0) return std::nullopt;
  const size_t count = std::min(batch_size, left);
  const int64_t* const first = drawn_.data_ptr<int64_t>() + index_;
  index_ += static_cast<int64_t>(count);
  return std::vector<size_t>(first, first + count);
}

}  // namespace gradus::data::samplers
