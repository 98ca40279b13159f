// ConfusionMatrix: how often each class was taken for each other.
#pragma once

#include <optional>

#include "gradus/tensor/base/option.h"
#include "gradus/watch/metrics/metric.h"

namespace gradus::metrics {

// threshold and ignore_index as in AccuracyOptions.
struct ConfusionMatrixOptions {
  GRADUS_OPTIONS(ConfusionMatrixOptions, ARGUMENT(int64_t, num_classes),
                 OPTION(double, threshold, 0.5),
                 OPTION(std::optional<int64_t>, ignore_index, std::nullopt));
};

// Row i, column j: how many elements of class i were predicted to be of class j.
class ConfusionMatrix : public Metric {
 public:
  // Errors: ValueError for fewer than 2 classes.
  explicit ConfusionMatrix(ConfusionMatrixOptions options)
      : ConfusionMatrix("ConfusionMatrix", options) {}

  // Takes what Accuracy::update takes. Errors: TypeError and ValueError as there; IndexError for a
  // target or a prediction that is none of the classes.
  void update(const Tensor& preds, const Tensor& target);
  // int64 (num_classes, num_classes).
  Tensor compute() const override;
  void reset() override;

 protected:
  Tensor state() const override;
  void take_states(const Tensors& of_ranks) override;

 private:
  friend class ClassMetric;
  // name: of the metric in errors.
  ConfusionMatrix(const char* name, ConfusionMatrixOptions options);

  const char* name_;
  ConfusionMatrixOptions options_;
  Tensor counts_;
};

}  // namespace gradus::metrics
