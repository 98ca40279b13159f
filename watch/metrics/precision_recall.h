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

// What these metrics share. A class without predictions or targets to divide by has the figure 0.
class ClassMetric : public Metric {
 public:
  // Errors: ValueError for fewer than 2 classes, and for Average::Binary of more.
  explicit ClassMetric(ClassMetricOptions options);
  // As ConfusionMatrix::update.
  void update(const Tensor& preds, const Tensor& target) { matrix_.update(preds, target); }
  Tensor compute() const override;
  void reset() override { matrix_.reset(); }

 protected:
  // Of classes of which `right` elements were predicted right, `predicted` were predicted at all,
  // and `actual` exist: what to divide by what.
  struct Ratio {
    Tensor above, below;
  };
  virtual Ratio ratio(const Tensor& right, const Tensor& predicted, const Tensor& actual) const = 0;

 private:
  ClassMetricOptions options_;
  ConfusionMatrix matrix_;
};

// Of the elements that were taken for a class, the share that belongs to it.
class Precision : public ClassMetric {
 public:
  using ClassMetric::ClassMetric;

 private:
  Ratio ratio(const Tensor& right, const Tensor& predicted, const Tensor& actual) const override;
};

// Of the elements of a class, the share that was found. Its macro average is the balanced accuracy.
class Recall : public ClassMetric {
 public:
  using ClassMetric::ClassMetric;

 private:
  Ratio ratio(const Tensor& right, const Tensor& predicted, const Tensor& actual) const override;
};

// The harmonic mean of precision and recall, which counts recall beta times as much.
class FBetaScore : public ClassMetric {
 public:
  // Errors: ValueError for a beta that is not above 0, and those of ClassMetric.
  FBetaScore(double beta, ClassMetricOptions options);

 private:
  Ratio ratio(const Tensor& right, const Tensor& predicted, const Tensor& actual) const override;
  double beta_;
};

// The harmonic mean of precision and recall.
class F1Score : public FBetaScore {
 public:
  explicit F1Score(ClassMetricOptions options) : FBetaScore(1, options) {}
};

}  // namespace gradus::metrics
