// Data sets of tensors in memory: an example is a row.
#pragma once

#include <array>
#include <concepts>

#include "gradus/data/datasets/base.h"

namespace gradus::data::detail {
// Errors: ValueError for tensors without dimensions, or with different numbers of rows.
void check_rows(ArrayRef<Tensor> tensors);
// places_of makes a tensor on the CPU, as a loader's workers ask for it. rows_at copies it to where
// the rows are.
Tensor places_of(ArrayRef<size_t> indices);
Tensor rows_at(const Tensor& rows, const Tensor& places);
}  // namespace gradus::data::detail

namespace gradus::data::datasets {

// The rows of one tensor, as libtorch's.
struct TensorDataset : Dataset<TensorDataset, TensorExample> {
  // Errors: ValueError for a tensor without dimensions.
  explicit TensorDataset(Tensor rows);
  // Each tensor is a row. Errors: as stack.
  explicit TensorDataset(const std::vector<Tensor>& rows);

  TensorExample get(size_t index) override;
  std::optional<size_t> size() const override;
  // The rows under the indices as one tensor: what stack would make of them.
  TensorExample get_stacked(ArrayRef<size_t> indices);

  Tensor tensor;
};

// The rows of two tensors that belong together, as Python's TensorDataset(data, target).
struct TensorPairDataset : Dataset<TensorPairDataset> {
  // Errors: ValueError for tensors without dimensions, or with different numbers of rows.
  TensorPairDataset(Tensor data_rows, Tensor target_rows);

  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  // The rows under the indices as one tensor each: what stack would make of them.
  Example<> get_stacked(ArrayRef<size_t> indices);

  Tensor data, target;
};

// The rows of any number of tensors that belong together, as Python's TensorDataset(a, b, c):
//
//   data::DataLoader loader(data::TensorTupleDataset(numbers, categories, prices), 64);
//   for (auto& [x, categories, y] : loader) ...
template <size_t count>
class TensorTupleDataset : public Dataset<TensorTupleDataset<count>, std::array<Tensor, count>> {
 public:
  // Errors: ValueError for tensors without dimensions, or with different numbers of rows.
  template <std::same_as<Tensor>... Rows>
  explicit TensorTupleDataset(Rows... rows) : tensors_{std::move(rows)...} {
    data::detail::check_rows(tensors_);
  }

  std::array<Tensor, count> get(size_t index) override {
    std::array<Tensor, count> out;
    for (size_t i = 0; i < count; ++i) out[i] = tensors_[i].select(0, static_cast<int64_t>(index));
    return out;
  }
  std::optional<size_t> size() const override { return static_cast<size_t>(tensors_[0].size(0)); }
  // The rows under the indices as one tensor each: what stack would make of them.
  std::array<Tensor, count> get_stacked(ArrayRef<size_t> indices) {
    std::array<Tensor, count> out;
    const Tensor places = data::detail::places_of(indices);
    for (size_t i = 0; i < count; ++i) out[i] = data::detail::rows_at(tensors_[i], places);
    return out;
  }
  const std::array<Tensor, count>& tensors() const { return tensors_; }

 private:
  std::array<Tensor, count> tensors_;
};
template <class... Rows>
TensorTupleDataset(Rows...) -> TensorTupleDataset<sizeof...(Rows)>;

}  // namespace gradus::data::datasets

namespace gradus::data {
using datasets::TensorDataset;
using datasets::TensorPairDataset;
using datasets::TensorTupleDataset;
}  // namespace gradus::data
