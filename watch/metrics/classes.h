// Class numbers of a batch, as the metrics of classification read them.
#pragma once

#include <optional>

#include "gradus/tensor/tensor.h"

namespace gradus::metrics::detail {

// Predictions and targets of the same shape, both int64, and which of them count.
struct ClassPairs {
  Tensor predictions, targets;
  Tensor counted;  // bool; undefined: all
};

// preds: scores (N, C, ...), or for targets of the same shape class numbers, or numbers of which
// those above `threshold` mean class 1. A target of ignore_index does not count, and becomes 0.
// Errors: TypeError where target holds no integers; ValueError where the shapes do not belong
// together, which starts with `op`.
ClassPairs class_pairs(const char* op, const Tensor& preds, const Tensor& target, double threshold,
                       std::optional<int64_t> ignore_index);
// The targets alone, as int64.
ClassPairs class_targets(const char* op, const Tensor& target, std::optional<int64_t> ignore_index);
// Errors: IndexError where a number is none of `classes` classes; on a GPU the next wait raises it.
void check_classes(const char* op, const char* argument, const Tensor& numbers, int64_t classes);
// The sum of both, on the device of the first; the second where the first is undefined.
Tensor added(const Tensor& sum, const Tensor& part);
// Sums as Metric::state() gives them; an undefined one counts as `count` zeros.
Tensor listed(const Tensors& sums, int64_t count = 1);
// The sums of these over ranks, one after the other.
Tensor total(const Tensors& of_ranks);
// Errors: Error unless something was counted.
void check_counted(const char* metric, bool counted);

}  // namespace gradus::metrics::detail
