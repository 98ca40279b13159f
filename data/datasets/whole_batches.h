// drop_last for data sets that decide themselves which examples come next.
#pragma once

#include <concepts>
#include <optional>
#include <utility>
#include <vector>

#include "gradus/data/datasets/base.h"

namespace gradus::data::detail {

// The number of examples of a batch.
template <class E>
size_t examples_of(const std::vector<E>& batch) {
  return batch.size();
}
// A batch of tensors has a row for each example.
inline size_t examples_of(const Tensor& batch) {
  return batch.dim() == 0 ? 1 : static_cast<size_t>(batch.size(0));
}
template <class Data, class Target>
size_t examples_of(const Example<Data, Target>& batch) requires requires {
  examples_of(batch.data);
}
{ return examples_of(batch.data); }

// The next batch of a stateful data set; with drop_last one with fewer examples than asked for is
// left out. The data set itself counts: a transform may make any batch of the examples. Errors:
// NotImplementedError for a batch whose examples cannot be counted.
template <class Dataset>
typename Dataset::BatchType next_batch(Dataset& dataset, typename Dataset::BatchRequestType request,
                                       bool drop_last) {
  if constexpr (requires { dataset.next_batch(std::move(request), drop_last); }) {
    return dataset.next_batch(std::move(request), drop_last);
  } else {
    if (!drop_last) return dataset.get_batch(std::move(request));
    using Batch = typename Dataset::BatchType::value_type;
    if constexpr (requires(const Batch& batch) { examples_of(batch); } &&
                  std::is_convertible_v<typename Dataset::BatchRequestType, size_t>) {
      const auto wanted = static_cast<size_t>(request);
      auto batch = dataset.get_batch(request);
      while (batch && examples_of(*batch) < wanted) batch = dataset.get_batch(request);
      return batch;
    } else {
      fail<NotImplementedError>(
          "DataLoader: drop_last for a data set whose batches are no vectors or tensors, and have "
          "no number of examples; leave short batches out in its get_batch");
    }
  }
}

}  // namespace gradus::data::detail
