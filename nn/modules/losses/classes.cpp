// The losses of losses.def that compare with class numbers, and cross entropy.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/nn/modules/losses/parts.h"

#include "gradus/autograd/engine/record.h"
#include "gradus/autograd/ops/cross_entropy.h"
#include "gradus/autograd/ops/index/scatter.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::nn::functional {

using namespace detail;

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

// Losses, 0 for targets to be ignored, and the factors whose sum divides that of the losses.
struct Losses {
  Tensor losses, factors;
};

// dtype: that input is computed in.
void check_targets(const char* op, const Tensor& input, const Tensor& target, const Tensor& weight,
                   ScalarType dtype) {
  check(input.dim() > 0, op,
        ": input has no dimensions, expected (N, C, ...) or (C); unsqueeze it");
  check_class_numbers(op, target);
  const int64_t dim = class_dim(input);
  Dims shape = input.impl().sizes;
  shape.erase(dim);
  check(target.sizes() == IntArrayRef(shape), op, ": input has shape ", input.sizes(), ", target ",
        target.sizes(), ", expected one class number per element of ", IntArrayRef(shape),
        "; reshape it");
  raw::check_same_device(op, input, "input", target, "target");
  if (weight.defined()) raw::check_same_device(op, input, "input", weight, "weight");
  check_class_weight(op, input, dim, weight);
  if (weight.defined())
    check<TypeError>(weight.dtype() == dtype, op, ": weight has dtype ", weight.dtype(), ", input ",
                     dtype, "; convert one with .to(...)");
}

// input: log-probabilities; target: int64.
Losses losses_of_logs(const char* op, const Tensor& input, const Tensor& target,
                      const CrossEntropyLossOptions& options) {
  const int64_t dim = class_dim(input);
  const Tensor& weight = options.weight();
  const Tensor kept = target != options.ignore_index(), classes = where(kept, target, 0);
  Tensor losses = -picked(op, input, dim, classes.unsqueeze(dim)).squeeze(dim), factors = kept;
  if (weight.defined()) {
    const Tensor weights = picked(op, weight, 0, classes.reshape({-1})).view(target.sizes());
    factors = where(kept, weights, 0);
    losses = losses * factors;
  }
  if (const double smoothing = options.label_smoothing(); smoothing != 0) {
    const Tensor weighted = weight.defined() ? input * along_classes(weight, input) : input;
    const double each = smoothing / static_cast<double>(input.size(dim));
    losses = losses * (1 - smoothing) - weighted.sum(dim) * each;
  }
  return {where(kept, losses, 0), factors};
}

// Whether row_cross_entropy computes the same: the classes are along the last dimension, the
// weights have no gradient, and there are no weights beside smoothing, which would need a sum of
// them.
bool fits_rows(const Tensor& input, const CrossEntropyLossOptions& options) {
  const Tensor& weight = options.weight();
  return class_dim(input) == input.dim() - 1 && input.is_floating_point() && input.numel() > 0 &&
         !(weight.defined() && (options.label_smoothing() != 0 || recording(weight)));
}

// input: logits; target: int64.
Tensor loss_of_rows(const char* op, const Tensor& input, const Tensor& target,
                    const CrossEntropyLossOptions& options, ScalarType result) {
  const int64_t dim = class_dim(input);
  const CrossEntropyRule rule = {
      {op, dim, input.size(dim)}, options.ignore_index(), options.label_smoothing()};
  const bool one_row = dim == 0, mean = options.reduction() == kMean;
  const Tensor loss =
      row_cross_entropy(rule, one_row ? input.unsqueeze(0) : input,
                        one_row ? target.unsqueeze(0) : target, options.weight(), mean);
  if (mean) return loss.to(result);
  return reduced(op, one_row ? loss.squeeze(0) : loss, options.reduction()).to(result);
}

Tensor averaged(const char* op, const Losses& all, Reduction reduction, ScalarType dtype) {
  if (reduction != kMean) return reduced(op, all.losses, reduction).to(dtype);
  // Small types do not hold such sums.
  const ScalarType wide = computed_type(all.losses.scalar_type());
  const ScalarType counted = all.factors.dtype() == kBool ? kLong : wide;
  return (all.losses.sum(wide) / all.factors.sum(counted)).to(dtype);
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
  GRADUS_AUTOCAST(nll_loss, input, target, options);
  const char* op = "nll_loss";
  check_defined(op, input, target);
  check_targets(op, input, target, options.weight(), input.scalar_type());
  const Losses losses = losses_of_logs(
      op, input, target.to(kLong),
      CrossEntropyLossOptions().weight(options.weight()).ignore_index(options.ignore_index()));
  return averaged(op, losses, options.reduction(), input.scalar_type());
}

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyLossOptions& options) {
  const char* op = "cross_entropy";
  check_defined(op, input, target);
  check(input.dim() > 0, op,
        ": input has no dimensions, expected (N, C, ...) or (C); unsqueeze it");
  check(options.label_smoothing() >= 0 && options.label_smoothing() <= 1, op,
        ": label_smoothing is ", options.label_smoothing(),
        ", expected a part; give a number of 0 to 1");
  // Autocast changes the dtype of the result; rows of logits are read as they are.
  constexpr autocast::Row kRow = autocast::row_of("cross_entropy");
  const ScalarType dtype = autocast::cast_type(kRow, input);
  const auto logs = [&] { return input.to(dtype).log_softmax(class_dim(input)); };
  if (input.sizes() == target.sizes())
    return probability_loss(logs(), target.to(autocast::cast_type(kRow, target)), options);
  check<TypeError>(!target.is_floating_point(), op, ": target has dtype ", target.dtype(),
                   ", expected class numbers of int64, or probabilities of input's shape ",
                   input.sizes(), ", and it has shape ", target.sizes(),
                   "; convert with .to(kLong) or reshape it");
  check_targets(op, input, target, options.weight(), dtype);
  const Tensor numbers = target.to(kLong);  // a uint8 of 156 is not -100
  if (fits_rows(input, options)) return loss_of_rows(op, input, numbers, options, dtype);
  return averaged(op, losses_of_logs(op, logs(), numbers, options), options.reduction(), dtype);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginLossOptions& options) {
  GRADUS_AUTOCAST(multi_margin_loss, input, target, options);
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
  GRADUS_AUTOCAST(multilabel_margin_loss, input, target, options);
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
