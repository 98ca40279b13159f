// Class numbers of a batch: read off scores, and checked.
#include "gradus/watch/metrics/classes.h"

#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus::metrics::detail {

namespace {

bool has_scores(const Tensor& preds, const Tensor& target) {
  if (preds.dim() != target.dim() + 1 || preds.dim() < 2) return false;
  for (int64_t d = 0; d < target.dim(); ++d)
    if (target.size(d) != preds.size(d == 0 ? 0 : d + 1)) return false;
  return true;
}

}  // namespace

ClassPairs class_targets(const char* op, const Tensor& target,
                         std::optional<int64_t> ignore_index) {
  check(target.defined(), op, ": target is undefined; give it the right classes");
  check<TypeError>(!target.is_floating_point(), op, ": target has dtype ", target.scalar_type(),
                   ", expected class numbers; convert it with .to(kLong)");
  ClassPairs out{{}, target.detach().to(kLong), {}};
  if (ignore_index) {
    out.counted = out.targets.ne(*ignore_index);
    out.targets = out.targets.masked_fill(out.targets.eq(*ignore_index), 0);
  }
  return out;
}

ClassPairs class_pairs(const char* op, const Tensor& preds, const Tensor& target, double threshold,
                       std::optional<int64_t> ignore_index) {
  check(preds.defined(), op, ": preds is undefined; give it scores or class numbers");
  ClassPairs out = class_targets(op, target, ignore_index);
  const Tensor here = preds.detach();
  if (has_scores(preds, target)) {
    check(preds.size(1) > 0, op, ": preds has the shape ", preds.sizes(),
          ", which has no classes; expected (N, C, ...) with C above 0");
    out.predictions = here.argmax(1);
  } else {
    check(preds.sizes() == target.sizes(), op, ": preds has the shape ", preds.sizes(),
          " and target ", target.sizes(),
          "; expected scores (N, C, ...) for targets (N, ...), or one prediction for each target");
    out.predictions = preds.is_floating_point() ? here.gt(threshold).to(kLong) : here.to(kLong);
  }
  return out;
}

void check_classes(const char* op, const char* argument, const Tensor& numbers, int64_t classes) {
  if (numbers.numel() == 0) return;
  if (!numbers.is_cpu()) {
    arange(classes, numbers.options()).gather(0, numbers.reshape({-1}));
    return;
  }
  const auto [least, greatest] = numbers.aminmax();
  for (const int64_t number : {least.item<int64_t>(), greatest.item<int64_t>()})
    check<IndexError>(number >= 0 && number < classes, op, ": ", argument, " holds the class ",
                      number, "; expected 0 to ", classes - 1,
                      ", or a larger num_classes, or ignore_index for this class");
}

Tensor added(const Tensor& sum, const Tensor& part) {
  return sum.defined() ? sum + part.to(sum.device()) : part;
}

Tensor listed(const Tensors& sums, int64_t count) {
  Tensors out;
  for (const Tensor& sum : sums)
    out.push_back(sum.defined() ? sum.to(Device(kCPU), kDouble).reshape({-1})
                                : zeros({count}, kDouble));
  return cat(out);
}

Tensor total(const Tensors& of_ranks) { return stack(of_ranks).sum(0); }

void check_counted(const char* metric, bool counted) {
  check<Error>(counted, metric, ".compute: nothing was counted; call update() first");
}

}  // namespace gradus::metrics::detail
