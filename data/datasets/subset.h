// Parts of a data set: Subset, random_split as in Python, and stratified_split.
#pragma once

#include "gradus/data/datasets/base.h"
#include "gradus/tensor/generator.h"
#include "gradus/tensor/tensor.h"

namespace gradus::data {

namespace detail {
// `lengths` are numbers of examples that add up to size, or shares that add up to 1.
std::vector<std::vector<size_t>> split_indices(size_t size, ArrayRef<double> lengths,
                                               const std::optional<Generator>& generator);
// The same within each class of `targets`; each part is in the order of the data set.
std::vector<std::vector<size_t>> stratified_indices(size_t size, const Tensor& targets,
                                                    ArrayRef<double> shares,
                                                    const std::optional<Generator>& generator);
void check_subset(ArrayRef<size_t> indices, size_t size);
}  // namespace detail

namespace datasets {

// The examples of a data set that stand under some of its indices, in their order.
template <class Source>
class Subset : public BatchDataset<Subset<Source>, typename Source::BatchType> {
 public:
  // Errors: IndexError for an index that the data set does not have.
  Subset(Source dataset, std::vector<size_t> indices)
      : dataset_(std::move(dataset)), indices_(std::move(indices)) {
    if (const auto known = dataset_.size()) data::detail::check_subset(indices_, *known);
  }

  // REQUIRES: a data set with get, get_batch or get_stacked. Errors: IndexError.
  auto get(size_t index) requires requires(Source& s) { s.get(index); }
  { return dataset_.get(place(index)); }
  typename Source::BatchType get_batch(ArrayRef<size_t> batch) override {
    return dataset_.get_batch(places(batch));
  }
  auto get_stacked(ArrayRef<size_t> batch) requires requires(Source& s) { s.get_stacked(batch); }
  { return dataset_.get_stacked(places(batch)); }
  std::optional<size_t> size() const override { return indices_.size(); }

  // The file of an example. Errors: IndexError.
  auto path(size_t index) const requires requires(const Source& s) { s.path(index); }
  { return dataset_.path(place(index)); }

  Source& dataset() { return dataset_; }
  // Where the examples stand in the whole data set.
  const std::vector<size_t>& indices() const { return indices_; }

 private:
  size_t place(size_t index) const {
    check<IndexError>(index < indices_.size(), "Subset: index ", index, " of ", indices_.size(),
                      " examples; count from 0");
    return indices_[index];
  }
  std::vector<size_t> places(ArrayRef<size_t> batch) const {
    std::vector<size_t> out;
    out.reserve(batch.size());
    for (const size_t index : batch) out.push_back(place(index));
    return out;
  }

  Source dataset_;
  std::vector<size_t> indices_;
};

}  // namespace datasets

// Divides a data set at random: random_split(dataset, {0.8, 0.2}). Lengths are numbers of examples
// that add up to its size, or shares that add up to 1. Examples that shares leave over go to the
// first parts, one each. Each part has a copy of the data set. Errors: ValueError for other
// lengths, and where the size of the data set is not known.
template <class Source>
std::vector<datasets::Subset<Source>> random_split(
    Source dataset, ArrayRef<double> lengths, std::optional<Generator> generator = std::nullopt) {
  const auto size = dataset.size();
  check(size.has_value(),
        "random_split: the size of the data set is not known; give a data set whose size() returns "
        "it");
  std::vector<datasets::Subset<Source>> parts;
  for (auto& indices : detail::split_indices(*size, lengths, generator))
    parts.emplace_back(dataset, std::move(indices));
  return parts;
}

// Divides a data set at random so that each part has its share of each class, as scikit-learn's
// train_test_split(stratify=targets): stratified_split(pictures, pictures.targets(), {0.8, 0.2}).
// `targets` has the class of each example, whole numbers (N); shares add up to 1. Examples of a
// class that shares leave over go to the first parts, one each. Errors: as random_split; ValueError
// for other targets, TypeError for targets that are no whole numbers.
template <class Source>
std::vector<datasets::Subset<Source>> stratified_split(
    Source dataset, const Tensor& targets, ArrayRef<double> shares,
    std::optional<Generator> generator = std::nullopt) {
  const auto size = dataset.size();
  check(size.has_value(),
        "stratified_split: the size of the data set is not known; give a data set whose size() "
        "returns it");
  std::vector<datasets::Subset<Source>> parts;
  for (auto& indices : detail::stratified_indices(*size, targets, shares, generator))
    parts.emplace_back(dataset, std::move(indices));
  return parts;
}

}  // namespace gradus::data
