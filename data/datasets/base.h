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

#include "gradus/data/example.h"
#include "gradus/tensor/base/error.h"
#include "gradus/tensor/shape.h"

namespace gradus::data {

namespace detail {
// Calls get(index), which returns an example. Errors: those of get; an Error names the index.
template <class Get>
auto get_sample(size_t index, const Get& get);
// The index whose get() has thrown on this thread since the last call.
std::optional<size_t> take_failed_sample();
void note_failed_sample(size_t index);
}  // namespace detail

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

  virtual ExampleType get(size_t index) = 0;

  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (const size_t index : indices)
      batch.push_back(detail::get_sample(index, [this](size_t i) { return get(i); }));
    return batch;
  }
};

// A data set without indices: it is asked for a number of examples, and decides itself which come
// next.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

}  // namespace datasets

using datasets::Dataset;

template <class Get>
auto detail::get_sample(size_t index, const Get& get) {
  try {
    return get(index);
  } catch (Error& error) {
    detail::note_failed_sample(index);
    error.add_context("; sample " + std::to_string(index) + " of the data set");
    throw;
  } catch (...) {
    detail::note_failed_sample(index);
    throw;
  }
}

}  // namespace gradus::data
