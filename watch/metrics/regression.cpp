// Metrics of regression: sums that stay where they are computed.
#include "gradus/watch/metrics/regression.h"

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "gradus/watch/metrics/classes.h"

namespace gradus::metrics {

namespace {

// preds - target as float64. Errors: as those of the metrics' update, which start with `op`.
Tensor errors_of(const char* op, const Tensor& preds, const Tensor& target) {
  check(preds.defined(), op, ": preds is undefined; give it what the model predicts");
  check(target.defined(), op, ": target is undefined; give it the measured numbers");
  check(preds.sizes() == target.sizes(), op, ": preds has the shape ", preds.sizes(),
        " and target ", target.sizes(),
        "; expected one shape: call squeeze(1) or unsqueeze(1) on one of them");
  check<TypeError>(!preds.is_complex() && !target.is_complex(), op, ": ",
                   preds.is_complex() ? "preds" : "target",
                   " holds complex numbers, expected real ones; take their abs()");
  return preds.detach().to(kDouble) - target.detach().to(kDouble);
}

}  // namespace

void detail::MeanError::add(const Tensor& errors) {
  sum_ = added(sum_, errors.sum());
  counted_ += errors.numel();
}
Tensor detail::MeanError::compute() const {
  check_counted(name(), counted_ > 0);
  return sum_.to(Device(kCPU)) / counted_;
}
void detail::MeanError::reset() {
  sum_.reset();
  counted_ = 0;
}
Tensor detail::MeanError::state() const {
  return cat({listed({sum_}), full({1}, counted_, kDouble)});
}
void detail::MeanError::take_states(const Tensors& of_ranks) {
  const Tensor sums = total(of_ranks);
  sum_ = sums[0];
  counted_ = sums[1].item<int64_t>();
}

void MeanSquaredError::update(const Tensor& preds, const Tensor& target) {
  const NoGradGuard no_grad;
  add(errors_of("MeanSquaredError.update", preds, target).square());
}
Tensor MeanSquaredError::compute() const {
  const Tensor mean = MeanError::compute();
  return options_.squared() ? mean : mean.sqrt();
}

void MeanAbsoluteError::update(const Tensor& preds, const Tensor& target) {
  const NoGradGuard no_grad;
  add(errors_of("MeanAbsoluteError.update", preds, target).abs());
}

void R2Score::update(const Tensor& preds, const Tensor& target) {
  constexpr const char* kOp = "R2Score.update";
  const NoGradGuard no_grad;
  const Tensor errors = errors_of(kOp, preds, target);
  check(target.dim() == 1 || target.dim() == 2, kOp, ": target has the shape ", target.sizes(),
        ", expected (N) or (N, outputs)");
  const int64_t count = target.size(0), outputs = target.dim() == 1 ? 1 : target.size(1);
  check(!sums_.defined() || sums_.size(1) == outputs, kOp, ": target has ", outputs,
        " outputs, and earlier batches had ", sums_.defined() ? sums_.size(1) : 0,
        "; call reset() before another model");
  if (count == 0) return;
  const Tensor measured = target.detach().to(kDouble).reshape({count, outputs});
  const Tensor mean = measured.mean(0);
  add(count, stack({errors.reshape({count, outputs}).square().sum(0), mean,
                    (measured - mean).square().sum(0)}));
}

void R2Score::add(int64_t count, const Tensor& sums) {
  if (counted_ == 0) {
    sums_ = sums;
  } else {
    const Tensor other = sums.to(sums_.device()), apart = other[1] - sums_[1];
    const auto here = static_cast<double>(counted_), there = static_cast<double>(count);
    const double share = there / (here + there);
    sums_ = stack({sums_[0] + other[0], sums_[1] + apart * share,
                   sums_[2] + other[2] + apart.square() * (here * share)});
  }
  counted_ += count;
}

Tensor R2Score::compute() const {
  const NoGradGuard no_grad;
  detail::check_counted("R2Score", counted_ > 0);
  check<Error>(counted_ > 1, "R2Score.compute: one target has no variance; update it with more");
  const Tensor sums = sums_.to(Device(kCPU)), missed = sums[0], variance = sums[2];
  const Tensor constant = missed.eq(0).to(kDouble);  // the score where targets do not differ
  return where(variance.gt(0), 1 - missed / variance, constant).mean();
}

void R2Score::reset() {
  sums_.reset();
  counted_ = 0;
}

Tensor R2Score::state() const {
  const Tensor counted = full({1}, counted_, kDouble);
  return sums_.defined() ? cat({counted, sums_.to(Device(kCPU)).flatten()}) : counted;
}
void R2Score::take_states(const Tensors& of_ranks) {
  reset();
  for (const Tensor& state : of_ranks)
    if (const auto count = state[0].item<int64_t>()) add(count, state.slice(0, 1).reshape({3, -1}));
}

}  // namespace gradus::metrics
