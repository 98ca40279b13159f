// MeanMetric and RunningMean: sums that stay where they are computed.
#include "gradus/watch/metrics/mean.h"

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "gradus/watch/metrics/classes.h"

namespace gradus::metrics {

void MeanMetric::update(const Tensor& value, double weight) {
  const NoGradGuard no_grad;
  check(value.defined(), "MeanMetric.update: value is undefined; give it a loss");
  sum_ = detail::added(sum_, value.detach().to(kDouble).sum() * weight);
  weight_ += weight * static_cast<double>(value.numel());
}

void MeanMetric::update(double value, double weight) {
  sum_of_numbers_ += value * weight;
  weight_ += weight;
}

Tensor MeanMetric::compute() const {
  detail::check_counted("MeanMetric", weight_ != 0);
  const double sum = sum_of_numbers_ + (sum_.defined() ? sum_.item<double>() : 0);
  return full({}, sum / weight_, kDouble);
}

void MeanMetric::reset() { *this = {}; }

RunningMean::RunningMean(int64_t window) : window_(window) {
  check(window >= 1, "RunningMean: window is ", window, ", expected 1 or more");
}

void RunningMean::update(const Tensor& value) {
  const NoGradGuard no_grad;
  check(value.numel() > 0, "RunningMean.update: value has no elements; give it a loss");
  values_.push_back(value.detach().to(kDouble).mean());
  if (static_cast<int64_t>(values_.size()) > window_) values_.pop_front();
}

void RunningMean::update(double value) { update(full({}, value, kDouble)); }

Tensor RunningMean::compute() const {
  const NoGradGuard no_grad;
  detail::check_counted("RunningMean", !values_.empty());
  double sum = 0;
  for (const Tensor& value : values_) sum += value.item<double>();
  return full({}, sum / static_cast<double>(values_.size()), kDouble);
}

Tensor MeanMetric::state() const {
  return tensor({sum_of_numbers_ + (sum_.defined() ? sum_.item<double>() : 0), weight_}, kDouble);
}
void MeanMetric::take_states(const Tensors& of_ranks) {
  const Tensor sums = detail::total(of_ranks);
  sum_.reset();
  sum_of_numbers_ = sums[0].item<double>();
  weight_ = sums[1].item<double>();
}

}  // namespace gradus::metrics
