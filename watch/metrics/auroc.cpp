// AUROC by ranks: the statistic of Mann and Whitney.
#include "gradus/watch/metrics/auroc.h"

#include <cmath>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/factories.h"
#include "gradus/watch/metrics/classes.h"

namespace gradus::metrics {

namespace {

// positive: 1 for elements of the class, 0 for others. Equal scores share the mean of their ranks.
Tensor area(const Tensor& scores, const Tensor& positive) {
  const Tensor sorted = std::get<0>(scores.sort());
  const Tensor below = searchsorted(sorted, scores).to(kDouble);
  const Tensor up_to =
      searchsorted(sorted, scores, /*out_int32=*/false, /*right=*/true).to(kDouble);
  const Tensor ranks = (below + up_to + 1) / 2;
  const Tensor count = positive.sum(), others = static_cast<double>(positive.numel()) - count;
  if ((count * others).item<double>() == 0) return full({}, std::nan(""), kDouble);
  return ((ranks * positive).sum() - count * (count + 1) / 2) / (count * others);
}

}  // namespace

AUROC::AUROC(AUROCOptions options) : options_(options) {
  check(options.num_classes() >= 2, "AUROC: num_classes is ", options.num_classes(),
        ", expected 2 or more");
  check(options.average() != Average::Binary && options.average() != Average::Micro,
        "AUROC: average is Binary or Micro; expected Average::Macro, Weighted or None");
}

void AUROC::update(const Tensor& preds, const Tensor& target) {
  constexpr const char* kOp = "AUROC.update";
  const NoGradGuard no_grad;
  const int64_t classes = options_.num_classes();
  const Tensor targets =
      detail::class_pairs(kOp, preds, target, 0, std::nullopt).targets.reshape({-1});
  check<TypeError>(preds.is_floating_point(), kOp, ": preds has dtype ", preds.scalar_type(),
                   ", expected scores; give it the numbers before argmax");
  const bool binary = preds.dim() == target.dim();
  check(binary ? classes == 2 : preds.size(1) == classes, kOp, ": preds has the shape ",
        preds.sizes(), " for ", classes,
        " classes; expected (N, C, ...), or of 2 classes the score of class 1 for each target");
  detail::check_classes(kOp, "target", targets, classes);
  const Tensor scores = preds.detach().to(kDouble);
  scores_.push_back(binary ? scores.reshape({-1}) : scores.movedim(1, -1).reshape({-1, classes}));
  targets_.push_back(targets);
}

Tensor AUROC::compute() const {
  const NoGradGuard no_grad;
  detail::check_counted("AUROC", !targets_.empty());
  const auto joined = [](const Tensors& parts) {
    Tensors here;
    for (const Tensor& part : parts) here.push_back(part.to(Device(kCPU)));
    return cat(here);
  };
  const Tensor scores = joined(scores_), targets = joined(targets_);
  detail::check_counted("AUROC", targets.numel() > 0);
  check(!scores.isnan().any().item<bool>(),
        "AUROC.compute: a score is NaN, which has no rank; look for NaN in the model's output");
  if (scores.dim() == 1) {
    const Tensor out = area(scores, targets.to(kDouble));
    if (out.isnan().item<bool>())
      warn("AUROC.compute: all targets are of class " + std::to_string(targets[0].item<int64_t>()) +
           ", so there is no area, and the figure is NaN; count batches with both classes");
    return out;
  }
  Tensors areas, counts;
  for (int64_t c = 0; c < options_.num_classes(); ++c) {
    const Tensor positive = targets.eq(c).to(kDouble);
    areas.push_back(area(scores.select(1, c).contiguous(), positive));
    counts.push_back(positive.sum());
  }
  const Tensor all = stack(areas);
  if (options_.average() == Average::None) return all;
  if (options_.average() == Average::Macro) return all.nanmean();
  const Tensor weights = stack(counts) * all.isnan().logical_not();
  return (all.nan_to_num(0) * weights).sum() / weights.sum();
}

void AUROC::reset() {
  scores_.clear();
  targets_.clear();
}

// The number of scores of an element, then these and the target of each.
Tensor AUROC::state() const {
  Tensors rows;
  for (size_t i = 0; i < targets_.size(); ++i) {
    const Tensor scores = scores_[i].reshape({targets_[i].numel(), -1});
    const Tensor targets = targets_[i].unsqueeze(1).to(kDouble);
    if (rows.empty()) rows.push_back(full({1}, scores.size(1), kDouble));
    rows.push_back(cat({scores, targets}, 1).reshape({-1}).to(Device(kCPU)));
  }
  return rows.empty() ? zeros({0}, kDouble) : cat(rows);
}
void AUROC::take_states(const Tensors& of_ranks) {
  reset();
  for (const Tensor& list : of_ranks) {
    if (list.numel() == 0) continue;
    const auto scores = static_cast<int64_t>(list[0].item<double>());
    const Tensor rows = list.slice(0, 1).reshape({-1, scores + 1});
    scores_.push_back(scores == 1 ? rows.select(1, 0) : rows.slice(1, 0, scores));
    targets_.push_back(rows.select(1, scores).to(kLong));
  }
}

}  // namespace gradus::metrics
