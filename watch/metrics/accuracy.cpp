// Accuracy: right predictions and all predictions, counted on the device.
#include "gradus/watch/metrics/accuracy.h"

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "gradus/watch/metrics/classes.h"

namespace gradus::metrics {

Accuracy::Accuracy(AccuracyOptions options) : options_(options) {
  check(options.top_k() >= 1, "Accuracy: top_k is ", options.top_k(), ", expected 1 or more");
}

void Accuracy::update(const Tensor& preds, const Tensor& target) {
  constexpr const char* kOp = "Accuracy.update";
  const NoGradGuard no_grad;
  const auto [predictions, targets, counted] =
      detail::class_pairs(kOp, preds, target, options_.threshold(), options_.ignore_index());
  const bool has_scores = preds.dim() > target.dim();
  if (has_scores) detail::check_classes(kOp, "target", targets, preds.size(1));
  Tensor right;
  if (options_.top_k() == 1) {
    right = predictions.eq(targets);
  } else {
    check(has_scores, kOp, ": top_k is ", options_.top_k(), " and preds has the shape ",
          preds.sizes(), "; expected scores (N, C, ...)");
    check(options_.top_k() <= preds.size(1), kOp, ": top_k is ", options_.top_k(),
          " and preds has ", preds.size(1), " classes; choose a smaller top_k");
    const Tensor first = std::get<1>(preds.detach().topk(options_.top_k(), 1));
    right = first.eq(targets.unsqueeze(1)).any(1);
  }
  if (counted.defined()) right = right.logical_and(counted);
  const Tensor all = counted.defined() ? counted.sum() : full({}, targets.numel(), kLong);
  right_ = detail::added(right_, right.sum());
  counted_ = detail::added(counted_, all);
}

Tensor Accuracy::compute() const {
  detail::check_counted("Accuracy", counted_.defined() && counted_.item<int64_t>() > 0);
  return right_.to(Device(kCPU), kDouble) / counted_.to(Device(kCPU), kDouble);
}

void Accuracy::reset() {
  right_.reset();
  counted_.reset();
}

Tensor Accuracy::state() const { return detail::listed({right_, counted_}); }
void Accuracy::take_states(const Tensors& of_ranks) {
  const Tensor sums = detail::total(of_ranks).to(kLong);
  right_ = sums[0];
  counted_ = sums[1];
}

}  // namespace gradus::metrics
