// Data sets of tensors in memory: an example is a row.
#pragma once

#include "gradus/data/datasets/base.h"

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

}  // namespace gradus::data::datasets

namespace gradus::data {
using datasets::TensorDataset;
using datasets::TensorPairDataset;
}  // namespace gradus::data
