// Data sets under libtorch's names: what every one can do. To write one, derive from Dataset and
// say how many examples there are and what stands under an index:
//
//   struct Squares : data::Dataset<Squares> {
//     data::Example<> get(size_t index) override;
//     std::optional<size_t> size() const override { return 100; }
//   };
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "gradus/data/datasets/failed_sample.h"
#include "gradus/data/example.h"
#include "gradus/tensor/base/error.h"
#include "gradus/tensor/shape.h"

namespace gradus::data {

namespace datasets {

template <class SourceDataset, class AppliedTransform>
class MapDataset;

// A data set that makes batches of type Batch from requests of type BatchRequest. Self is the class
// that derives from it.
template <class Self, class Batch, class BatchRequest = ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  static constexpr bool is_stateful = false;

  virtual ~BatchDataset() = default;

  virtual Batch get_batch(BatchRequest request) = 0;
  // The number of examples; nothing where it is not known.
  virtual std::optional<size_t> size() const = 0;

  // A data set whose batches pass through the transform. The new set holds a
  // copy of this one, or takes over an rvalue.
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) & {
    return {static_cast<Self&>(*this), std::move(transform)};
  }
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) && {
    return {static_cast<Self&&>(*this), std::move(transform)};
  }
};

// A data set with an example under each index from 0 on; a batch is a vector of examples. Loaders
// with workers give each worker a copy of the data set, which shares the memory of tensors.
template <class Self, class SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  // Where the data set has a path(index), errors of a batch name the file.
  virtual ExampleType get(size_t index) = 0;

  // Errors: those of get; an Error names the index.
  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (const size_t index : indices) try {
        batch.push_back(get(index));
      } catch (...) {
        data::detail::rethrow_for({index, data::detail::file_of(static_cast<Self&>(*this), index)});
      }
    return batch;
  }
};

// A data set without indices: it is asked for a number of examples, and decides itself which come
// next.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

}  // namespace datasets

using datasets::Dataset;

}  // namespace gradus::data
