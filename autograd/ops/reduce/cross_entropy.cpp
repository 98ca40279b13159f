// Cross entropy of rows of logits, with its gradient.
#include "gradus/autograd/ops/cross_entropy.h"

#include "gradus/autograd/ops/reduce.h"

namespace gradus {

namespace {

// The gradient of x by functions that have one themselves.
Tensor gradient(const CrossEntropyRule& rule, const Tensor& grad, const Tensor& x,
                const Tensor& target, const Tensor& rows) {
  const Tensor wide = x.to(rows.scalar_type()), kept = (target != rule.ignored).unsqueeze(1);
  const Tensor classes = where(kept, target.unsqueeze(1), 0);
  const Tensor shares =
      full(x.sizes(), rule.smoothing / static_cast<double>(x.size(1)), wide.options())
          .scatter(1, classes, 1 - rule.smoothing, "add");
  const Tensor scale = (grad * rows[0]).unsqueeze(1);
  return where(kept, scale * (wide.softmax(1) - shares), 0).to(x.scalar_type());
}

}  // namespace

Tensor row_cross_entropy(const CrossEntropyRule& rule, const Tensor& x, const Tensor& target,
                         const Tensor& weight, bool mean) {
  const ScalarType compute = computed_type(x.dtype());
  if (raw::taken_type(contracts::cross_entropy::x, x) != x.dtype())
    return row_cross_entropy(rule, x.to(compute), target, weight, mean);
  const bool records = recording(x);
  const auto [table, average] = raw::cross_entropy(
      rule, x, target, weight.defined() ? raw::to(weight, compute) : weight, mean);
  Tensor losses = mean ? average : raw::alias(table, target.impl().sizes, {1});
  // The losses may change in place, and the rows beside them are saved.
  if (records && !mean) losses = raw::clone(losses);
  const Tensor rows = raw::narrow(table, 0, 1, 3);
  if (records)
    record("CrossEntropyLossBackward0", losses, {x}, {x, target, rows},
           [rule, mean](Node& n, const Tensor& grad) -> Tensors {
             const Tensor saved = n.saved(0), numbers = n.saved(1), sums = n.saved(2);
             const Tensor each = mean ? grad.expand(numbers.sizes()) : grad;
             return {GradMode::is_enabled()
                         ? gradient(rule, each, saved, numbers, sums)
                         : raw::cross_entropy_grad(rule, each, saved, numbers, sums)};
           });
  return losses;
}

}  // namespace gradus
