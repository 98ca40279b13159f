// The losses of losses.def that compare with class numbers, and cross entropy.
#include "gradus/nn/modules/loss_parts.h"

#include "gradus/autograd/ops/index/scatter.h"

namespace gradus::nn::functional {

namespace {

int64_t class_dim(const Tensor& input) { return input.dim() == 1 ? 0 : 1; }

// A number for each class, to be multiplied with input.
Tensor along_classes(const Tensor& weight, const Tensor& input) {
  Dims shape = Dims::filled(input.dim(), 1);
  shape[class_dim(input)] = weight.size(0);
  return weight.view(shape);
}

// from, at the places of index along dim. Errors name op.
Tensor picked(const char* op, const Tensor& from, int64_t dim, const Tensor& index) {
  return gathered(op, "GatherBackward0", from, dim, index);
}

void check_classes_of_rows(const char* op, const Tensor& input) {
  check(input.dim() == 1 || input.dim() == 2, op, ": input has shape ", input.sizes(),
        ", expected (N, C) or (C); reshape it");
}

// input: log-probabilities; target: the numbers of classes.
Tensor class_loss(const char* op, const Tensor& input, const Tensor& target,
                  const CrossEntropyLossOptions& options) {
  check(input.dim() > 0, op,
        ": input has no dimensions, expected (N, C, ...) or (C); unsqueeze it");
  check_class_numbers(op, target);
  const int64_t dim = class_dim(input);
  Dims shape = input.impl().sizes;
  shape.erase(dim);
  check(target.sizes() == IntArrayRef(shape), op, ": input has shape ", input.sizes(), ", target ",
        target.sizes(), ", expected one class number per element of ", IntArrayRef(shape),
        "; reshape it");
  const Tensor& weight = options.weight();
  check_class_weight(op, input, dim, weight);

  const Tensor numbers = target.to(kLong);  // a uint8 of 156 is not -100
  const Tensor kept = numbers != options.ignore_index(), classes = where(kept, numbers, 0);
  Tensor losses = -picked(op, input, dim, classes.unsqueeze(dim)).squeeze(dim), factors;
  if (weight.defined()) {
    check<TypeError>(weight.dtype() == input.dtype(), op, ": weight has dtype ", weight.dtype(),
                     ", input ", input.dtype(), "; convert one with .to(...)");
    factors = where(kept, picked(op, weight, 0, classes.reshape({-1})).view(shape), 0);
    losses = losses * factors;
  }
  if (const double smoothing = options.label_smoothing(); smoothing != 0) {
    const Tensor weighted = weight.defined() ? input * along_classes(weight, input) : input;
    const double each = smoothing / static_cast<double>(input.size(dim));
    losses = losses * (1 - smoothing) - weighted.sum(dim) * each;
  }
  losses = where(kept, losses, 0);
  if (options.reduction() != kMean) return reduced(op, losses, options.reduction());
  // Small types do not hold such sums.
  const ScalarType wide = computed_type(losses.scalar_type());
  const Tensor count = factors.defined() ? factors.sum(wide) : kept.sum();
  return (losses.sum(wide) / count).to(losses.scalar_type());
}

// target: probabilities, of input's shape.
Tensor probability_loss(const Tensor& input, const Tensor& target,
                        const CrossEntropyLossOptions& options) {
  const char* op = "cross_entropy";
  check<TypeError>(target.is_floating_point(), op, ": target has input's shape ", target.sizes(),
                   " and dtype ", target.dtype(),
                   ", expected probabilities; convert with .to(kFloat)");
  check(options.ignore_index() < 0, op, ": ignore_index is ", options.ignore_index(),
        ", and the target holds probabilities; leave it at -100");
  const int64_t dim = class_dim(input);
  check_class_weight(op, input, dim, options.weight());
  Tensor shares = target;
  if (const double smoothing = options.label_smoothing(); smoothing != 0)
    shares = target * (1 - smoothing) + smoothing / static_cast<double>(input.size(dim));
  if (options.weight().defined()) shares = shares * along_classes(options.weight(), input);
  return reduced(op, -(input * shares).sum(dim), options.reduction());
}

}  // namespace

Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossOptions& options) {
  check_defined("nll_loss", input, target);
  return class_loss("nll_loss", input, target,
                    CrossEntropyLossOptions()
                        .weight(options.weight())
                        .ignore_index(options.ignore_index())
                        .reduction(options.reduction()));
}

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyLossOptions& options) {
  check_defined("cross_entropy", input, target);
  check(input.dim() > 0,
        "cross_entropy: input has no dimensions, expected (N, C, ...) or (C); unsqueeze it");
  check(options.label_smoothing() >= 0 && options.label_smoothing() <= 1,
        "cross_entropy: label_smoothing is ", options.label_smoothing(),
        ", expected a part; give a number of 0 to 1");
  const Tensor logs = input.log_softmax(class_dim(input));
  return input.sizes() == target.sizes() ? probability_loss(logs, target, options)
                                         : class_loss("cross_entropy", logs, target, options);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginLossOptions& options) {
  const char* op = "multi_margin_loss";
  check_defined(op, input, target);
  check(options.p() == 1 || options.p() == 2, op, ": p is ", options.p(), "; give 1 or 2");
  check_classes_of_rows(op, input);
  check_class_numbers(op, target);
  const Tensor rows = input.dim() == 1 ? input.unsqueeze(0) : input;
  check(target.dim() <= 1 && target.numel() == rows.size(0), op, ": input has shape ",
        input.sizes(), ", target ", target.sizes(), ", expected a class number for each of ",
        rows.size(0), " rows; reshape it");
  check_class_weight(op, rows, 1, options.weight());

  const Tensor classes = target.to(kLong).reshape({-1}), places = classes.unsqueeze(1);
  Tensor losses = (options.margin() - picked(op, rows, 1, places) + rows).relu();
  if (options.p() == 2) losses = losses.square();
  losses = losses.scatter(1, places, 0).mean(1);
  if (options.weight().defined()) losses = losses * picked(op, options.weight(), 0, classes);
  return reduced(op, input.dim() == 1 ? losses.squeeze(0) : losses, options.reduction());
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              const MultiLabelMarginLossOptions& options) {
  const char* op = "multilabel_margin_loss";
  check_same_shape(op, input, target);
  check_classes_of_rows(op, input);
  check_class_numbers(op, target);

  const Tensor is_class = (target >= 0).cumprod(-1).to(kBool);
  const Tensor classes = where(is_class, target, 0).to(kLong);
  const Tensor scores = picked(op, input, -1, classes);
  const Tensor taken = zeros_like(classes).scatter_add(-1, classes, is_class.to(kLong));
  const Tensor pairs = is_class.unsqueeze(-1) & (taken == 0).unsqueeze(-2);
  const Tensor losses = (1 - scores.unsqueeze(-1) + input.unsqueeze(-2)).relu();
  return reduced(op, where(pairs, losses, 0).sum({-2, -1}) / input.size(-1), options.reduction());
}

}  // namespace gradus::nn::functional
