// The losses of losses.def that are made element by element.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/one_node.h"
#include "gradus/autograd/ops/mean_square.h"
#include "gradus/nn/modules/losses/parts.h"
#include "gradus/tensor/base/warning.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gradus::nn::functional {

using namespace detail;

Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossOptions& options) {
  GRADUS_AUTOCAST(mse_loss, input, target, options);
  check_same_shape("mse_loss", input, target);
  check_real("mse_loss", {{"input", input}, {"target", target}});
  const bool alike = input.dtype() == target.dtype() && input.device() == target.device();
  if (alike && (input.dtype() == kFloat || input.dtype() == kDouble) && !input.is_meta() &&
      input.numel() > 0 && options.reduction() == kMean)
    return mean_square(input, target);
  return reduced("mse_loss", (input - target).square(), options.reduction());
}

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossOptions& options) {
  GRADUS_AUTOCAST(l1_loss, input, target, options);
  check_same_shape("l1_loss", input, target);
  return reduced("l1_loss", (input - target).abs(), options.reduction());
}

namespace {
// d^2 / 2 for d = |input - target| below limit, from there on its tangent.
Tensor quadratic_up_to(const char* op, double limit, const Tensor& input, const Tensor& target) {
  check_real(op, {{"input", input}, {"target", target}});
  const Tensor distance = (input - target).abs(), near = distance.clamp_max(limit);
  return near * (distance - near / 2);
}
}  // namespace

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossOptions& options) {
  GRADUS_AUTOCAST(smooth_l1_loss, input, target, options);
  const double beta = options.beta().value_or(1);
  check(beta >= 0, "smooth_l1_loss: beta is ", beta, ", expected a distance; give 0 or more");
  if (beta == 0) return l1_loss(input, target, options.reduction());
  check_same_shape("smooth_l1_loss", input, target);
  return reduced("smooth_l1_loss", quadratic_up_to("smooth_l1_loss", beta, input, target) / beta,
                 options.reduction());
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossOptions& options,
                      double beta) {
  GRADUS_AUTOCAST(smooth_l1_loss, input, target, options, beta);
  check(!options.beta().has_value(), "smooth_l1_loss: beta is ", beta,
        ", and the options have one too; leave one out");
  return smooth_l1_loss(input, target, SmoothL1LossOptions(options.reduction()).beta(beta));
}

Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossOptions& options) {
  GRADUS_AUTOCAST(huber_loss, input, target, options);
  check(options.delta() > 0, "huber_loss: delta is ", options.delta(),
        ", expected a distance; give a positive number");
  check_same_shape("huber_loss", input, target);
  return reduced("huber_loss", quadratic_up_to("huber_loss", options.delta(), input, target),
                 options.reduction());
}

// 1 - sigmoid(x) is sigmoid(-x), and log_sigmoid is exact for large numbers of either sign: it is
// min(x, 0) - log1p(e^-|x|).
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BCEWithLogitsLossOptions& options) {
  GRADUS_AUTOCAST(binary_cross_entropy_with_logits, input, target, options);
  const char* op = "binary_cross_entropy_with_logits";
  check_same_shape(op, input, target);
  check_probabilities(op, target);
  const Tensor hits = weighted(op, "pos_weight", target * log_sigmoid(input), options.pos_weight());
  const Tensor losses = -(hits + (1 - target) * log_sigmoid(-input));
  return reduced(op, weighted(op, "weight", losses, options.weight()), options.reduction());
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BCELossOptions& options) {
  GRADUS_AUTOCAST(binary_cross_entropy, input, target, options);
  const char* op = "binary_cross_entropy";
  check_same_shape(op, input, target);
  check_probabilities(op, target);
  check(!input.is_cpu() || ((input >= 0) & (input <= 1)).all().item<bool>(), op,
        ": input holds numbers outside of [0, 1], expected probabilities; take its sigmoid, or use "
        "binary_cross_entropy_with_logits");
  const auto log_of = [](const Tensor& x) { return x.log().clamp_min(-100); };
  const auto log_of_rest = [](const Tensor& x) { return (-x).log1p().clamp_min(-100); };
  const Tensor losses =
      without_graph([&] { return -(target * log_of(input) + (1 - target) * log_of_rest(input)); });
  if (recording(input, target))
    record("BinaryCrossEntropyBackward0", losses, {input, target}, {input, target},
           [=](Node& n, const Tensor& grad) {
             const Tensor x = as_computed(n.saved(0)), t = as_computed(n.saved(1));
             Tensors grads(2);
             if (n.wants(0)) grads[0] = grad * (x - t) / (x * (1 - x)).clamp_min(1e-12);
             if (n.wants(1)) grads[1] = grad * (log_of_rest(x) - log_of(x));
             return grads;
           });
  return reduced(op, weighted(op, "weight", losses, options.weight()), options.reduction());
}

Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivLossOptions& options) {
  GRADUS_AUTOCAST(kl_div, input, target, options);
  check_broadcast("kl_div", {{"input", input}, {"target", target}});
  static std::atomic<bool> warned = false;
  if (options.reduction() == kMean && warns_again(warned))
    warn(
        "kl_div: kMean divides by the number of elements; kBatchMean, which divides by the size of "
        "the first dimension, gives the divergence");
  const Tensor losses = options.log_target() ? target.exp() * (target - input)
                                             : target.xlogy(target) - target * input;
  if (options.reduction() != kBatchMean) return reduced("kl_div", losses, options.reduction());
  return input.dim() == 0 ? losses.sum() : losses.sum() / input.size(0);
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        const SoftMarginLossOptions& options) {
  GRADUS_AUTOCAST(soft_margin_loss, input, target, options);
  check_broadcast("soft_margin_loss", {{"input", input}, {"target", target}});
  return reduced("soft_margin_loss", -log_sigmoid(target * input), options.reduction());
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            const HingeEmbeddingLossOptions& options) {
  GRADUS_AUTOCAST(hinge_embedding_loss, input, target, options);
  check_broadcast("hinge_embedding_loss", {{"input", input}, {"target", target}});
  const Tensor apart = (options.margin() - input).clamp_min(0);
  return reduced("hinge_embedding_loss",
                 where(target == 1, 0, apart) + where(target == -1, 0, input), options.reduction());
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        const PoissonNLLLossOptions& options) {
  GRADUS_AUTOCAST(poisson_nll_loss, input, target, options);
  check_broadcast("poisson_nll_loss", {{"input", input}, {"target", target}});
  Tensor losses = options.log_input() ? input.exp() - target * input
                                      : input - target * (input + options.eps()).log();
  if (options.full()) {
    const Tensor large = target > 1, t = where(large, target, 1);  // a logarithm of 0 has no slope
    losses = losses + where(large, t * t.log() - t + 0.5 * (2 * std::numbers::pi * t).log(), 0);
  }
  return reduced("poisson_nll_loss", losses, options.reduction());
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         const GaussianNLLLossOptions& options) {
  const char* op = "gaussian_nll_loss";
  check_defined(op, {{"input", input}, {"target", target}, {"var", var}});
  check_same_shape(op, input, target);
  check_real(op, {{"input", input}, {"target", target}, {"var", var}});
  check(options.eps() > 0, op, ": eps is ", options.eps(),
        ", expected a variance; give a positive number");
  const IntArrayRef shape = input.sizes();
  const auto begins_as_input = [&] {
    return std::equal(shape.begin(), shape.end() - 1, var.sizes().begin());
  };
  const bool lacks_last = var.dim() + 1 == input.dim() && begins_as_input();
  check(var.sizes() == shape || lacks_last ||
            (input.dim() > 0 && var.dim() == input.dim() && var.size(-1) == 1 && begins_as_input()),
        op, ": var is of incorrect size ", var.sizes(), " for an input of ", shape,
        "; give it that shape, a last size of 1, or no last dimension");
  check(!var.is_cpu() || !(var < 0).any().item<bool>(), op,
        ": var has negative entry/entries, expected variances; take its square or its exponential");
  Tensor variance = lacks_last ? var.unsqueeze(-1) : var;
  // The gradient is that of the variance, without what eps adds.
  variance = variance + (variance.detach().clamp_min(options.eps()) - variance.detach());
  Tensor losses = (variance.log() + (input - target).pow(2) / variance) / 2;
  if (options.full()) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
  return reduced(op, losses, options.reduction());
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultiLabelSoftMarginLossOptions& options) {
  GRADUS_AUTOCAST(multilabel_soft_margin_loss, input, target, options);
  const char* op = "multilabel_soft_margin_loss";
  check_broadcast(op, {{"input", input}, {"target", target}});
  check(input.dim() > 0, op, ": input has no dimensions, expected (..., C); unsqueeze it");
  const Tensor losses = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input));
  return reduced(op, weighted(op, "weight", losses, options.weight()).mean(-1),
                 options.reduction());
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossOptions& options) {
  GRADUS_AUTOCAST(margin_ranking_loss, input1, input2, target, options);
  const char* op = "margin_ranking_loss";
  check_same_rank(op, {{"input1", input1}, {"input2", input2}, {"target", target}});
  return reduced(op, (options.margin() - target * (input1 - input2)).clamp_min(0),
                 options.reduction());
}

}  // namespace gradus::nn::functional
