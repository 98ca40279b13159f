// MapDataset: a data set whose batches pass through a transform. dataset.map(transform) makes one.
#pragma once

#include "gradus/data/datasets/whole_batches.h"

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

  // Errors: those of the data set and of the transform; an Error names the sample.
  OutputBatchType get_batch(BatchRequestType request) override {
    if constexpr (is_stateful) {
      return next_batch(std::move(request), false);
    } else if constexpr (std::is_convertible_v<const BatchRequestType&, ArrayRef<size_t>>) {
      auto batch = dataset_.get_batch(request);
      data::detail::take_failed_place();
      try {
        return transform_.apply_batch(std::move(batch));
      } catch (...) {
        const ArrayRef<size_t> samples = request;
        const auto place = data::detail::take_failed_place();
        if (!place || *place >= samples.size()) data::detail::rethrow_for(samples);
        data::detail::rethrow_for({samples[*place], data::detail::file_of(*this, samples[*place])});
      }
    } else {
      return transform_.apply_batch(dataset_.get_batch(std::move(request)));
    }
  }
  // The next batch of a stateful data set. drop_last: as data::detail::next_batch.
  OutputBatchType next_batch(BatchRequestType request, bool drop_last) requires is_stateful {
    auto batch = data::detail::next_batch(dataset_, std::move(request), drop_last);
    if (!batch) return std::nullopt;
    return transform_.apply_batch(std::move(*batch));
  }
  std::optional<size_t> size() const noexcept override { return dataset_.size(); }
  // Begins an epoch of a stateful data set.
  void reset() requires is_stateful { dataset_.reset(); }

  // The file of an example.
  auto path(size_t index) const requires requires(const SourceDataset& s) { s.path(index); }
  { return dataset_.path(index); }

  const SourceDataset& dataset() noexcept { return dataset_; }
  const AppliedTransform& transform() noexcept { return transform_; }

 private:
  SourceDataset dataset_;
  AppliedTransform transform_;
};

}  // namespace gradus::data::datasets
