// Rows of tensors, one by one and as batches.
#include "gradus/data/datasets/tensor.h"

#include <algorithm>

#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus::data {

namespace detail {

void check_rows(ArrayRef<Tensor> tensors) {
  for (const Tensor& tensor : tensors) {
    const auto place = &tensor - tensors.begin();
    check(tensor.defined() && tensor.dim() > 0, "TensorTupleDataset: tensor ", place,
          " has no dimensions, expected one for the examples; use unsqueeze(0) for a single "
          "example");
    check(tensor.size(0) == tensors[0].size(0), "TensorTupleDataset: tensor 0 has ",
          tensors[0].size(0), " rows, and tensor ", place, " has ", tensor.size(0),
          ", expected as many; give a row for each example");
  }
}

Tensor places_of(ArrayRef<size_t> indices) {
  const Tensor places = empty({static_cast<int64_t>(indices.size())}, kLong);
  std::copy(indices.begin(), indices.end(), places.data_ptr<int64_t>());
  return places;
}

Tensor rows_at(const Tensor& rows, const Tensor& places) {
  return rows.index_select(0, places.to(rows.device()));
}

}  // namespace detail

namespace datasets {

namespace {

Tensor checked_rows(Tensor rows, const char* op, const char* argument) {
  check(rows.defined() && rows.dim() > 0, op, ": ", argument,
        " has no dimensions, expected one for the examples; use unsqueeze(0) for a single example");
  return rows;
}

Tensor row(const Tensor& rows, size_t index) { return rows.select(0, static_cast<int64_t>(index)); }

}  // namespace

TensorDataset::TensorDataset(Tensor rows)
    : tensor(checked_rows(std::move(rows), "TensorDataset", "tensor")) {}
TensorDataset::TensorDataset(const std::vector<Tensor>& rows) : TensorDataset(stack(rows)) {}

TensorExample TensorDataset::get(size_t index) { return row(tensor, index); }
std::optional<size_t> TensorDataset::size() const { return static_cast<size_t>(tensor.size(0)); }
TensorExample TensorDataset::get_stacked(ArrayRef<size_t> indices) {
  return data::detail::rows_at(tensor, data::detail::places_of(indices));
}

TensorPairDataset::TensorPairDataset(Tensor data_rows, Tensor target_rows)
    : data(checked_rows(std::move(data_rows), "TensorPairDataset", "data")),
      target(checked_rows(std::move(target_rows), "TensorPairDataset", "target")) {
  check(data.size(0) == target.size(0), "TensorPairDataset: data has ", data.size(0),
        " rows, and target ", target.size(0),
        ", expected as many; give the target of each example");
}

Example<> TensorPairDataset::get(size_t index) { return {row(data, index), row(target, index)}; }
std::optional<size_t> TensorPairDataset::size() const { return static_cast<size_t>(data.size(0)); }
Example<> TensorPairDataset::get_stacked(ArrayRef<size_t> indices) {
  const Tensor places = data::detail::places_of(indices);
  return {data::detail::rows_at(data, places), data::detail::rows_at(target, places)};
}

}  // namespace datasets
}  // namespace gradus::data
