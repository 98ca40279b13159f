// AUROC: the area under the curve of true against false positives.
#pragma once

#include "gradus/tensor/base/option.h"
#include "gradus/watch/metrics/metric.h"

namespace gradus::metrics {

// average: Macro, Weighted or None; of two classes without a meaning.
struct AUROCOptions {
  GRADUS_OPTIONS(AUROCOptions, ARGUMENT(int64_t, num_classes, 2),
                 OPTION(Average, average, Average::Macro));
};

// The chance that an element of a class has a higher score for it than one of another class has,
// where half of an equality counts. The metric keeps the scores of all batches. The figure of a
// class is NaN where all targets are of this class, or none; Macro and Weighted leave such a class
// out. A figure of two classes that is NaN comes with a warning.
class AUROC : public Metric {
 public:
  // Errors: ValueError for fewer than 2 classes, and for other averages.
  explicit AUROC(AUROCOptions options = {});

  // preds: of two classes the score of class 1, in the shape of target; else scores (N, C, ...).
  // Errors: TypeError where target holds no integers or preds no fractions; ValueError where the
  // shapes do not belong together; IndexError for a target that is none of the classes.
  void update(const Tensor& preds, const Tensor& target);
  // Errors: ValueError where a score is NaN, and those of Metric.
  Tensor compute() const override;
  void reset() override;

 protected:
  Tensor state() const override;
  void take_states(const Tensors& of_ranks) override;

 private:
  AUROCOptions options_;
  Tensors scores_, targets_;  // (N, C) or (N); (N)
};

}  // namespace gradus::metrics
