// Samplers that divide a data set among ranks: every rank draws the same order, and takes its
// share.
#pragma once

#include "gradus/data/samplers/base.h"

namespace gradus::data::samplers {

// All ranks have the same number of examples: some twice, from the beginning, where
// allow_duplicates; otherwise some at the end are left out.
// Errors: ValueError unless rank < num_replicas.
template <class BatchRequest = std::vector<size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  // Counts for the next reset(): each epoch has an order of its own.
  void set_epoch(size_t epoch) { epoch_ = epoch; }
  size_t epoch() const { return epoch_; }

 protected:
  explicit DistributedSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                              bool allow_duplicates = true)
      : size_(size),
        num_replicas_(num_replicas),
        rank_(rank),
        allow_duplicates_(allow_duplicates) {}

  size_t local_sample_count() const {
    return (size_ + (allow_duplicates_ ? num_replicas_ - 1 : 0)) / num_replicas_;
  }

  size_t size_, num_replicas_, rank_;
  size_t epoch_ = 0;
  bool allow_duplicates_;
};

// What both samplers share: the order of all examples, and this rank's part of it.
class SharedOrderSampler : public DistributedSampler<> {
 public:
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  // The place in the order of all examples from which next() goes on.
  size_t index() const noexcept { return index_; }

  // The epoch counts where the order depends on it.
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 protected:
  SharedOrderSampler(size_t size, size_t num_replicas, size_t rank, bool allow_duplicates,
                     bool shuffles);

 private:
  bool shuffles_;
  size_t index_ = 0, end_ = 0;
  std::vector<size_t> order_;
};

// A new order in every epoch: set_epoch(n), then reset().
class DistributedRandomSampler final : public SharedOrderSampler {
 public:
  explicit DistributedRandomSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                                    bool allow_duplicates = true)
      : SharedOrderSampler(size, num_replicas, rank, allow_duplicates, true) {}
};

class DistributedSequentialSampler final : public SharedOrderSampler {
 public:
  explicit DistributedSequentialSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                                        bool allow_duplicates = true)
      : SharedOrderSampler(size, num_replicas, rank, allow_duplicates, false) {}
};

}  // namespace gradus::data::samplers
