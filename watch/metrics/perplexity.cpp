// Perplexity: log-likelihoods, summed on the device.
#include "gradus/watch/metrics/perplexity.h"

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "gradus/watch/metrics/classes.h"

namespace gradus::metrics {

void Perplexity::update(const Tensor& preds, const Tensor& target) {
  constexpr const char* kOp = "Perplexity.update";
  const NoGradGuard no_grad;
  check(preds.defined(), kOp, ": preds is undefined; give it scores (..., words)");
  const auto [none, targets, counted] = detail::class_targets(kOp, target, options_.ignore_index());
  check<TypeError>(preds.is_floating_point(), kOp, ": preds has dtype ", preds.scalar_type(),
                   ", expected scores before softmax");
  check(preds.dim() == target.dim() + 1 &&
            preds.sizes().slice(0, static_cast<size_t>(target.dim())) == target.sizes(),
        kOp, ": preds has the shape ", preds.sizes(), " and target ", target.sizes(),
        "; expected scores (..., words) for targets (...)");
  detail::check_classes(kOp, "target", targets, preds.size(-1));
  const Tensor logs = preds.detach().to(preds.scalar_type() == kDouble ? kDouble : kFloat);
  const Tensor chosen = logs.gather(-1, targets.unsqueeze(-1)).squeeze(-1) - logs.logsumexp(-1);
  Tensor losses = chosen.to(kDouble).neg();
  if (counted.defined()) losses = losses.masked_fill(counted.logical_not(), 0);
  loss_ = detail::added(loss_, losses.sum());
  counted_ =
      detail::added(counted_, counted.defined() ? counted.sum() : full({}, targets.numel(), kLong));
}

Tensor Perplexity::compute() const {
  detail::check_counted("Perplexity", counted_.defined() && counted_.item<int64_t>() > 0);
  return (loss_.to(Device(kCPU)) / counted_.to(Device(kCPU), kDouble)).exp();
}

void Perplexity::reset() {
  loss_.reset();
  counted_.reset();
}

Tensor Perplexity::state() const { return detail::listed({loss_, counted_}); }
void Perplexity::take_states(const Tensors& of_ranks) {
  const Tensor sums = detail::total(of_ranks);
  loss_ = sums[0];
  counted_ = sums[1].to(kLong);
}

}  // namespace gradus::metrics
