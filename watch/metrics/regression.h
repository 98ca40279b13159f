// MeanSquaredError, MeanAbsoluteError and R2Score: how far predicted numbers are from measured
// ones.
#pragma once

#include "gradus/tensor/base/option.h"
#include "gradus/watch/metrics/metric.h"

namespace gradus::metrics {

namespace detail {
// The mean of an error over all elements.
class MeanError : public Metric {
 public:
  Tensor compute() const override;
  void reset() override;

 protected:
  Tensor state() const override;
  void take_states(const Tensors& of_ranks) override;
  void add(const Tensor& errors);
  // The class, for messages.
  virtual const char* name() const = 0;

 private:
  Tensor sum_;  // float64, on the device of the first batch
  int64_t counted_ = 0;
};
}  // namespace detail

// squared: false gives the root of the mean, RMSE.
struct MeanSquaredErrorOptions {
  GRADUS_OPTIONS(MeanSquaredErrorOptions, OPTION(bool, squared, true));
};

// The mean of (preds - target)^2 over all elements.
class MeanSquaredError : public detail::MeanError {
 public:
  explicit MeanSquaredError(MeanSquaredErrorOptions options = {}) : options_(options) {}

  // Errors: ValueError for two shapes; TypeError for complex numbers. Here and below.
  void update(const Tensor& preds, const Tensor& target);
  Tensor compute() const override;

 protected:
  const char* name() const override { return "MeanSquaredError"; }

 private:
  MeanSquaredErrorOptions options_;
};

// The mean of |preds - target| over all elements.
class MeanAbsoluteError : public detail::MeanError {
 public:
  void update(const Tensor& preds, const Tensor& target);

 protected:
  const char* name() const override { return "MeanAbsoluteError"; }
};

// The share of the variance of the targets that the predictions explain: 1 where all are right, 0
// where they are as good as the mean of the targets. The figure of (N, outputs) is the mean over
// the outputs.
class R2Score : public Metric {
 public:
  // Errors: ValueError for two shapes, for others than (N) and (N, outputs), and where batches
  // differ in their outputs; TypeError for complex numbers.
  void update(const Tensor& preds, const Tensor& target);
  // Errors: Error for fewer than two targets.
  Tensor compute() const override;
  void reset() override;

 protected:
  Tensor state() const override;
  void take_states(const Tensors& of_ranks) override;

 private:
  // Adds those of `count` further elements. A column of `sums` belongs to an output. Row 0 holds
  // the squared errors, row 1 the mean of the targets, row 2 their squared distances from it.
  void add(int64_t count, const Tensor& sums);

  Tensor sums_;  // float64, on the device of the first batch
  int64_t counted_ = 0;
};

}  // namespace gradus::metrics
