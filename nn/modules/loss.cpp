// The losses of losses.def.
#include "gradus/nn/modules/loss.h"

#include "gradus/autograd/ops/index/scatter.h"

namespace gradus::nn::functional {

namespace {

Tensor reduced(const char* op, const Tensor& losses, Reduction reduction) {
  if (reduction == kNone) return losses;
  if (reduction == kMean) return losses.mean();
  check(reduction == kSum, op, ": reduction is ", static_cast<int>(reduction),
        ", expected kNone, kMean or kSum");
  return losses.sum();
}

void check_defined(const char* op, const Tensor& input, const Tensor& target) {
  check(input.defined(), op, ": input is undefined, expected a tensor; assign it one first");
  check(target.defined(), op, ": target is undefined, expected a tensor; assign it one first");
}

void check_same_shape(const char* op, const Tensor& input, const Tensor& target) {
  check_defined(op, input, target);
  check(input.sizes() == target.sizes(), op, ": input has shape ", input.sizes(), ", target ",
        target.sizes(), "; they must agree, or the loss would broadcast; reshape one");
}

// x times a weight that broadcasts to its shape; x where there is none.
Tensor weighted(const char* op, const char* name, const Tensor& x, const Tensor& weight) {
  if (!weight.defined()) return x;
  check(broadcasts_to(weight.sizes(), x.sizes()), op, ": ", name, " has shape ", weight.sizes(),
        ", which does not broadcast to input's ", x.sizes(), "; reshape it");
  return x * weight;
}

int64_t class_dim(const Tensor& input) { return input.dim() == 1 ? 0 : 1; }

void check_weight(const char* op, const Tensor& input, const Tensor& weight) {
  const int64_t classes = input.size(class_dim(input));
  check(!weight.defined() || (weight.dim() == 1 && weight.size(0) == classes), op,
        ": weight has shape ", weight.defined() ? weight.sizes() : IntArrayRef(), ", expected [",
        classes, "], a number for each class of input ", input.sizes(), "; reshape it");
}

// A number for each class, to be multiplied with input.
Tensor along_classes(const Tensor& weight, const Tensor& input) {
  Dims shape = Dims::filled(input.dim(), 1);
  shape[class_dim(input)] = weight.size(0);
  return weight.view(shape);
}

// input: log-probabilities; target: the numbers of classes.
Tensor class_loss(const char* op, const Tensor& input, const Tensor& target,
                  const CrossEntropyLossOptions& options) {
  check(input.dim() > 0, op,
        ": input has no dimensions, expected (N, C, ...) or (C); unsqueeze it");
  check<TypeError>(target.dtype() == kLong || target.dtype() == kByte, op, ": target has dtype ",
                   target.dtype(), ", expected class numbers of int64; convert with .to(kLong)");
  const int64_t dim = class_dim(input);
  Dims shape = input.impl().sizes;
  shape.erase(dim);
  check(target.sizes() == IntArrayRef(shape), op, ": input has shape ", input.sizes(), ", target ",
        target.sizes(), ", expected one class number per element of ", IntArrayRef(shape),
        "; reshape it");
  const Tensor& weight = options.weight();
  check_weight(op, input, weight);

  const Tensor numbers = target.to(kLong);  // a uint8 of 156 is not -100
  const Tensor kept = numbers != options.ignore_index(), classes = where(kept, numbers, 0);
  const auto pick = [&](const Tensor& from, int64_t d, const Tensor& index) {
    return gathered(op, "GatherBackward0", from, d, index);
  };
  Tensor losses = -pick(input, dim, classes.unsqueeze(dim)).squeeze(dim), factors;
  if (weight.defined()) {
    check<TypeError>(weight.dtype() == input.dtype(), op, ": weight has dtype ", weight.dtype(),
                     ", input ", input.dtype(), "; convert one with .to(...)");
    factors = where(kept, pick(weight, 0, classes.reshape({-1})).view(shape), 0);
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
  check_weight(op, input, options.weight());
  const int64_t dim = class_dim(input);
  Tensor shares = target;
  if (const double smoothing = options.label_smoothing(); smoothing != 0)
    shares = target * (1 - smoothing) + smoothing / static_cast<double>(input.size(dim));
  if (options.weight().defined()) shares = shares * along_classes(options.weight(), input);
  return reduced(op, -(input * shares).sum(dim), options.reduction());
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossOptions& options) {
  check_same_shape("mse_loss", input, target);
  return reduced("mse_loss", (input - target).square(), options.reduction());
}

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossOptions& options) {
  check_same_shape("l1_loss", input, target);
  return reduced("l1_loss", (input - target).abs(), options.reduction());
}

// 1 - sigmoid(x) is sigmoid(-x), and log_sigmoid is exact for large numbers of either sign: it is
// min(x, 0) - log1p(e^-|x|).
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BCEWithLogitsLossOptions& options) {
  const char* op = "binary_cross_entropy_with_logits";
  check_same_shape(op, input, target);
  const Tensor hits = weighted(op, "pos_weight", target * log_sigmoid(input), options.pos_weight());
  const Tensor losses = -(hits + (1 - target) * log_sigmoid(-input));
  return reduced(op, weighted(op, "weight", losses, options.weight()), options.reduction());
}

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

}  // namespace gradus::nn::functional
