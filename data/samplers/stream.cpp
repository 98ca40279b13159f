// StreamSampler: the size of the next batch.
#include "gradus/data/samplers/stream.h"

#include <algorithm>

namespace gradus::data::samplers {

void StreamSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = 0;
}

std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  if (index_ == size_) return std::nullopt;
  const BatchSize batch(std::min(batch_size, size_ - index_));
  index_ += batch.size();
  return batch;
}

}  // namespace gradus::data::samplers
