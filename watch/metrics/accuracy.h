// Accuracy: the share of predictions that are right, or have the right class among their first k.
#pragma once

#include <optional>

#include "gradus/tensor/base/option.h"
#include "gradus/watch/metrics/metric.h"

namespace gradus::metrics {

// top_k: a prediction is right where the right class is among the k with the highest scores.
// threshold: for predictions that are one number each; those above it mean class 1. ignore_index:
// targets that do not count.
struct AccuracyOptions {
  GRADUS_OPTIONS(AccuracyOptions, OPTION(int64_t, top_k, 1), OPTION(double, threshold, 0.5),
                 OPTION(std::optional<int64_t>, ignore_index, std::nullopt));
};

// The share of right predictions.
//
//   metrics::Accuracy accuracy;
//   for (const auto& [x, y] : batches) accuracy.update(model(x), y);
//   accuracy.compute().item<double>();
class Accuracy : public Metric {
 public:
  // Errors: ValueError for a top_k below 1.
  explicit Accuracy(AccuracyOptions options = {});

  // preds: scores (N, C, ...) for targets (N, ...), or class numbers or probabilities of class 1 in
  // the shape of target. Errors: TypeError where target holds no integers; ValueError where the
  // shapes do not belong together or top_k is more than C; IndexError for a target that is no
  // class of the scores.
  void update(const Tensor& preds, const Tensor& target);
  Tensor compute() const override;
  void reset() override;

 protected:
  Tensor state() const override;
  void take_states(const Tensors& of_ranks) override;

 private:
  AccuracyOptions options_;
  Tensor right_, counted_;
};

}  // namespace gradus::metrics
