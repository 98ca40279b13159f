// Precision, Recall and FBetaScore: ratios of sums of a confusion matrix.
#include "gradus/watch/metrics/precision_recall.h"

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"

namespace gradus::metrics {

ClassMetric::ClassMetric(const char* name, ClassMetricOptions options)
    : options_(options),
      matrix_(name, ConfusionMatrixOptions(options.num_classes())
                        .threshold(options.threshold())
                        .ignore_index(options.ignore_index())) {
  check(options.average() != Average::Binary || options.num_classes() == 2, name,
        ": Average::Binary is for 2 classes, and num_classes is ", options.num_classes(),
        "; choose Average::Macro, Micro, Weighted or None");
}

Tensor ClassMetric::compute() const {
  const NoGradGuard no_grad;
  const Tensor matrix = matrix_.compute().to(kDouble);
  Tensor right = matrix.diagonal(), predicted = matrix.sum(0), actual = matrix.sum(1);
  const Tensor weights = options_.average() == Average::Weighted
                             ? actual
                             : (predicted + actual).gt(0).to(kDouble);  // of the mean
  if (options_.average() == Average::Micro)
    right = right.sum(), predicted = predicted.sum(), actual = actual.sum();
  const auto [above, below] = ratio(right, predicted, actual);
  const Tensor figures = (above / below).masked_fill(below.eq(0), 0);
  switch (options_.average()) {
    case Average::Binary:
      return figures[1];
    case Average::Macro:
    case Average::Weighted:
      return (figures * weights).sum() / weights.sum().clamp_min(1);
    default:
      return figures;
  }
}

ClassMetric::Ratio Precision::ratio(const Tensor& right, const Tensor& predicted,
                                    const Tensor&) const {
  return {right, predicted};
}

ClassMetric::Ratio Recall::ratio(const Tensor& right, const Tensor&, const Tensor& actual) const {
  return {right, actual};
}

FBetaScore::FBetaScore(const char* name, double beta, ClassMetricOptions options)
    : ClassMetric(name, options), beta_(beta) {
  check(beta > 0, name, ": beta is ", beta, ", expected a number above 0; 1 is the F1 score");
}

ClassMetric::Ratio FBetaScore::ratio(const Tensor& right, const Tensor& predicted,
                                     const Tensor& actual) const {
  const double square = beta_ * beta_;
  return {right * (1 + square), predicted + actual * square};
}

}  // namespace gradus::metrics
