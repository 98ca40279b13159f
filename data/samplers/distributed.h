// Samplers that divide a data set among ranks: every rank draws the same order, and takes its
// share.
#pragma once

#include "gradus/data/samplers/base.h"

namespace gradus::data::samplers {

// A rank's share of the order of all examples. All ranks have the same number of examples: some
// twice, from the beginning, where allow_duplicates; otherwise some at the end are left out.
// Where the order is shuffled, each epoch has a new one: set_epoch(n), then reset().
// Errors: ValueError unless rank < num_replicas.
template <bool shuffles>
class DistributedSampler final : public Sampler<> {
 public:
  explicit DistributedSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                              bool allow_duplicates = true);
  // Counts for the next reset().
  void set_epoch(size_t epoch) { epoch_ = epoch; }
  size_t epoch() const { return epoch_; }
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  // The place in the order of all examples from which next() goes on.
  size_t index() const noexcept { return index_; }

  // The epoch counts where the order depends on it.
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  size_t share() const {  // of the examples, that of each rank
    return (size_ + (allow_duplicates_ ? num_replicas_ - 1 : 0)) / num_replicas_;
  }

  size_t size_, num_replicas_, rank_;
  bool allow_duplicates_;
  size_t epoch_ = 0, index_ = 0, end_ = 0;
  std::vector<size_t> order_;
};

using DistributedRandomSampler = DistributedSampler<true>;
using DistributedSequentialSampler = DistributedSampler<false>;

}  // namespace gradus::data::samplers
