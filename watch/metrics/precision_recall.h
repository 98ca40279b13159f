// Precision, Recall, FBetaScore, F1Score: what a confusion matrix says of each class.
#pragma once

#include "gradus/watch/metrics/confusion_matrix.h"

namespace gradus::metrics {

// average: how the figures of the classes become one. threshold and ignore_index as in
// AccuracyOptions.
struct ClassMetricOptions {
  GRADUS_OPTIONS(ClassMetricOptions, ARGUMENT(int64_t, num_classes),
                 OPTION(Average, average, Average::Macro), OPTION(double, threshold, 0.5),
                 OPTION(std::optional<int64_t>, ignore_index, std::nullopt));
};

// The common part of these metrics. A class without predictions or targets to divide by has the
// figure 0.
class ClassMetric : public Metric {
 public:
  // Takes what ConfusionMatrix::update takes, with its errors.
  void update(const Tensor& preds, const Tensor& target) { matrix_.update(preds, target); }
  Tensor compute() const override;
  void reset() override { matrix_.reset(); }

 protected:
  // name: of the metric in errors.
  // Errors: ValueError for fewer than 2 classes, and for Average::Binary of more.
  ClassMetric(const char* name, ClassMetricOptions options);
  struct Ratio {
    Tensor above, below;
  };
  Tensor state() const override { return matrix_.state(); }
  void take_states(const Tensors& of_ranks) override { matrix_.take_states(of_ranks); }
  // The figure of each class as a fraction. right: its elements that were predicted right.
  // predicted: elements that were taken for it. actual: its elements.
  virtual Ratio ratio(const Tensor& right, const Tensor& predicted, const Tensor& actual) const = 0;

 private:
  ClassMetricOptions options_;
  ConfusionMatrix matrix_;
};

// The share of the elements taken for a class that belongs to it.
class Precision : public ClassMetric {
 public:
  // Errors: those of ClassMetric.
  explicit Precision(ClassMetricOptions options) : ClassMetric("Precision", options) {}

 private:
  Ratio ratio(const Tensor& right, const Tensor& predicted, const Tensor& actual) const override;
};

// The share of the elements of a class that was found. The macro average of it is the balanced
// accuracy.
class Recall : public ClassMetric {
 public:
  // Errors: those of ClassMetric.
  explicit Recall(ClassMetricOptions options) : ClassMetric("Recall", options) {}

 private:
  Ratio ratio(const Tensor& right, const Tensor& predicted, const Tensor& actual) const override;
};

// The harmonic mean of precision and recall, which counts recall beta times as much.
class FBetaScore : public ClassMetric {
 public:
  // Errors: ValueError for a beta that is not above 0, and those of ClassMetric.
  FBetaScore(double beta, ClassMetricOptions options) : FBetaScore("FBetaScore", beta, options) {}

 protected:
  FBetaScore(const char* name, double beta, ClassMetricOptions options);

 private:
  Ratio ratio(const Tensor& right, const Tensor& predicted, const Tensor& actual) const override;
  double beta_;
};

// The harmonic mean of precision and recall.
class F1Score : public FBetaScore {
 public:
  explicit F1Score(ClassMetricOptions options) : FBetaScore("F1Score", 1, options) {}
};

}  // namespace gradus::metrics
