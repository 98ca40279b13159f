// SequentialSampler: the next indices.
#include "gradus/data/samplers/sequential.h"

#include <algorithm>
#include <numeric>

namespace gradus::data::samplers {

void SequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  if (index_ == size_) return std::nullopt;
  std::vector<size_t> batch(std::min(batch_size, size_ - index_));
  std::iota(batch.begin(), batch.end(), index_);
  index_ += batch.size();
  return batch;
}

}  // namespace gradus::data::samplers
