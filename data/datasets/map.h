// MapDataset: a data set whose batches pass through a transform. dataset.map(transform) makes one.
#pragma once

#include "gradus/data/datasets/base.h"

namespace gradus::data::datasets {

namespace detail {
template <bool is_optional, class T>
using OptionalIf = std::conditional_t<is_optional, std::optional<T>, T>;
}

template <class SourceDataset, class AppliedTransform>
class MapDataset
    : public BatchDataset<MapDataset<SourceDataset, AppliedTransform>,
                          detail::OptionalIf<SourceDataset::is_stateful,
                                             typename AppliedTransform::OutputBatchType>,
                          typename SourceDataset::BatchRequestType> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType =
      detail::OptionalIf<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>;
  static constexpr bool is_stateful = SourceDataset::is_stateful;

  MapDataset(DatasetType dataset, TransformType transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType request) override {
    auto batch = dataset_.get_batch(std::move(request));
    if constexpr (is_stateful) {
      if (!batch) return std::nullopt;
      return transform_.apply_batch(std::move(*batch));
    } else {
      return transform_.apply_batch(std::move(batch));
    }
  }
  std::optional<size_t> size() const noexcept override { return dataset_.size(); }
  // Begins an epoch of a stateful data set.
  void reset() requires is_stateful { dataset_.reset(); }

  const SourceDataset& dataset() noexcept { return dataset_; }
  const AppliedTransform& transform() noexcept { return transform_; }

 private:
  SourceDataset dataset_;
  AppliedTransform transform_;
};

}  // namespace gradus::data::datasets
