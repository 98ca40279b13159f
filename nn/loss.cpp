#include "gradus/nn/loss.h"

namespace gradus {

namespace nn::functional {

namespace {
Tensor reduced(const Tensor& losses, Reduction reduction) {
  return reduction == kMean ? losses.mean() : reduction == kSum ? losses.sum() : losses;
}
}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossOptions& options) {
  check(input.sizes() == target.sizes(), "mse_loss: input has shape ", input.sizes(), ", target ",
        target.sizes(), "; they must agree, or the difference would broadcast; reshape one");
  return reduced((input - target).square(), options.reduction());
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const CrossEntropyLossOptions& options) {
  check(input.dim() == 1 || input.dim() == 2, "nll_loss: input has shape ", input.sizes(),
        ", expected (N, C) or (C)");
  check<TypeError>(target.dtype() == kLong, "nll_loss: target has dtype ", target.dtype(),
                   ", expected class numbers of int64; convert with .to(kLong)");
  check(target.dim() == input.dim() - 1 && (input.dim() == 1 || target.size(0) == input.size(0)),
        "nll_loss: input has shape ", input.sizes(), ", target ", target.sizes(),
        "; expected one class number per row");
  const Tensor losses = -input.gather(-1, target.unsqueeze(-1)).squeeze(-1);
  return reduced(losses, options.reduction());
}

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyLossOptions& options) {
  check(input.dim() == 1 || input.dim() == 2, "cross_entropy: input has shape ", input.sizes(),
        ", expected (N, C) or (C)");
  return nll_loss(input.log_softmax(-1), target, options);
}

}  // namespace nn::functional

Tensor mse_loss(const Tensor& self, const Tensor& target, Reduction reduction) {
  return nn::functional::mse_loss(self, target, reduction);
}
Tensor nll_loss(const Tensor& self, const Tensor& target, Reduction reduction) {
  return nn::functional::nll_loss(self, target, reduction);
}
Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, Reduction reduction) {
  return nn::functional::cross_entropy(self, target, reduction);
}

}  // namespace gradus
