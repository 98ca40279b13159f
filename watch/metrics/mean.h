// MeanMetric and RunningMean: of losses, and of what else each step gives.
#pragma once

#include <deque>

#include "gradus/watch/metrics/metric.h"

namespace gradus::metrics {

// The mean of all values, each as often as its weight says. A loss is added where it is computed:
// a step does not wait for it.
class MeanMetric : public Metric {
 public:
  // weight: such as the size of the batch. Each element of a tensor is a value.
  void update(const Tensor& value, double weight = 1);
  void update(double value, double weight = 1);
  // Errors: Error where the sum of the weights is 0.
  Tensor compute() const override;
  void reset() override;

 protected:
  Tensor state() const override;
  void take_states(const Tensors& of_ranks) override;

 private:
  Tensor sum_;  // of tensors; float64, on the device of the first
  double sum_of_numbers_ = 0, weight_ = 0;
};

// The mean of the last `window` values.
class RunningMean : public Metric {
 public:
  // Errors: ValueError for a window below 1.
  explicit RunningMean(int64_t window = 5);
  // Errors: ValueError for a tensor without elements. One with several counts as their mean.
  void update(const Tensor& value);
  void update(double value);
  Tensor compute() const override;
  void reset() override { values_.clear(); }

 private:
  int64_t window_;
  std::deque<Tensor> values_;
};

}  // namespace gradus::metrics
