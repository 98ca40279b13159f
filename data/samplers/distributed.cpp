// A rank's share of an order, random or sequential.
#include "gradus/data/samplers/distributed.h"

#include <algorithm>
#include <random>

#include "gradus/tensor/base/error.h"

namespace gradus::data::samplers {

template <bool shuffles>
DistributedSampler<shuffles>::DistributedSampler(size_t size, size_t num_replicas, size_t rank,
                                                 bool allow_duplicates)
    : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {
  check(rank < num_replicas, "DistributedSampler: rank = ", rank,
        " and num_replicas = ", num_replicas, "; expected 0 <= rank < num_replicas");
  reset();
}

// The engine and the shuffle are libtorch's, and so is the order.
template <bool shuffles>
void DistributedSampler<shuffles>::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  const size_t share = this->share();
  order_.resize(num_replicas_ == 1 ? size_ : share * num_replicas_);
  for (size_t i = 0; i < order_.size(); ++i) order_[i] = i % std::max<size_t>(size_, 1);
  if constexpr (shuffles) {
    std::mt19937 engine(static_cast<std::mt19937::result_type>(epoch_));
    std::shuffle(order_.begin(), order_.end(), engine);
  }
  index_ = rank_ * share;
  end_ = index_ + share;
}

template <bool shuffles>
std::optional<std::vector<size_t>> DistributedSampler<shuffles>::next(size_t batch_size) {
  if (index_ == end_) return std::nullopt;
  const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(index_);
  const size_t count = std::min(batch_size, end_ - index_);
  index_ += count;
  return std::vector<size_t>(begin, begin + static_cast<std::ptrdiff_t>(count));
}

template class DistributedSampler<true>;
template class DistributedSampler<false>;

}  // namespace gradus::data::samplers
