// SharedBatchDataset: a data set of which copies are the same one. Workers of a loader then read
// one data set at once.
#pragma once

#include <memory>

#include "gradus/data/datasets/whole_batches.h"

namespace gradus::data::datasets {

// REQUIRES: where a loader has several workers, get_batch of the data set may be called by several
// threads at once.
template <class UnderlyingDataset>
class SharedBatchDataset : public BatchDataset<SharedBatchDataset<UnderlyingDataset>,
                                               typename UnderlyingDataset::BatchType,
                                               typename UnderlyingDataset::BatchRequestType> {
 public:
  using BatchType = typename UnderlyingDataset::BatchType;
  using BatchRequestType = typename UnderlyingDataset::BatchRequestType;
  static constexpr bool is_stateful = UnderlyingDataset::is_stateful;

  // Errors: ValueError for null.
  SharedBatchDataset(std::shared_ptr<UnderlyingDataset> dataset)
      : dataset_(std::move(dataset)) {  // NOLINT
    check(
        dataset_ != nullptr,
        "SharedBatchDataset: dataset is null; make one with make_shared_dataset<Class>(arguments)");
  }

  BatchType get_batch(BatchRequestType request) override {
    return dataset_->get_batch(std::move(request));
  }
  std::optional<size_t> size() const override { return dataset_->size(); }
  // The next batch of a stateful data set. drop_last: as data::detail::next_batch.
  BatchType next_batch(BatchRequestType request, bool drop_last) requires is_stateful {
    return data::detail::next_batch(*dataset_, std::move(request), drop_last);
  }
  // Begins an epoch of a stateful data set.
  void reset() requires is_stateful { dataset_->reset(); }

  // The file of an example.
  auto path(size_t index) const requires requires(const UnderlyingDataset& s) { s.path(index); }
  { return dataset_->path(index); }

  UnderlyingDataset& operator*() { return *dataset_; }
  const UnderlyingDataset& operator*() const { return *dataset_; }
  UnderlyingDataset* operator->() { return dataset_.get(); }
  const UnderlyingDataset* operator->() const { return dataset_.get(); }

 private:
  std::shared_ptr<UnderlyingDataset> dataset_;
};

// A data set made of the arguments, and shared.
template <class UnderlyingDataset, class... Args>
SharedBatchDataset<UnderlyingDataset> make_shared_dataset(Args&&... args) {
  return std::make_shared<UnderlyingDataset>(std::forward<Args>(args)...);
}

}  // namespace gradus::data::datasets
