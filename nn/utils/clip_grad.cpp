// Limits for gradients.
#include "gradus/nn/utils/clip_grad.h"

#include <cmath>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/called.h"
#include "gradus/tensor/factories.h"

namespace gradus::nn::utils {

namespace {
Tensors gradients_of(const Tensors& parameters) {
  Tensors out;
  for (const Tensor& parameter : parameters)
    if (parameter.grad().defined()) out.push_back(parameter.grad().detach());
  return out;
}
}  // namespace

Tensor get_total_norm(const Tensors& tensors, double norm_type, bool error_if_nonfinite) {
  const Called op("get_total_norm");
  const NoGradGuard guard;
  if (tensors.empty()) return zeros({});
  Tensors norms;
  for (const Tensor& each : tensors) norms.push_back(each.norm(norm_type).to(tensors[0].device()));
  const Tensor total = norms.size() == 1 ? norms[0] : stack(norms).norm(norm_type);
  if (error_if_nonfinite)
    check<Error>(std::isfinite(total.item<double>()), op, ": The total norm of order ", norm_type,
                 " for gradients from `parameters` is non-finite, so it cannot be "
                 "clipped. To scale them all the same, set error_if_nonfinite to false");
  return total;
}

void clip_grads_with_norm_(const Tensors& parameters, double max_norm, const Tensor& total_norm) {
  check(total_norm.operand("clip_grads_with_norm_", "total_norm").numel() == 1,
        "clip_grads_with_norm_: total_norm has shape ", total_norm.sizes(),
        ", expected one number; use get_total_norm");
  const NoGradGuard guard;
  const Tensors gradients = gradients_of(parameters);
  const Tensor scale = (max_norm / (total_norm + 1e-6)).clamp_max(1);
  Tensors scales;  // each where its gradient is
  for (const Tensor& gradient : gradients) scales.push_back(scale.to(gradient.device()));
  for (size_t i = 0; i < gradients.size(); ++i) Tensor(gradients[i]).mul_(scales[i]);
}
void clip_grads_with_norm_(const Tensor& parameter, double max_norm, const Tensor& total_norm) {
  clip_grads_with_norm_(Tensors{parameter}, max_norm, total_norm);
}

// No number is waited for before the gradients are scaled, unless it has to be checked.
double clip_grad_norm_(const Tensors& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const Called op("clip_grad_norm_");
  const Tensor total = get_total_norm(gradients_of(parameters), norm_type, error_if_nonfinite);
  clip_grads_with_norm_(parameters, max_norm, total);
  return total.item<double>();
}
double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  return clip_grad_norm_(Tensors{parameter}, max_norm, norm_type, error_if_nonfinite);
}

void clip_grad_value_(const Tensors& parameters, double clip_value) {
  check(clip_value >= 0, "clip_grad_value_: clip_value is ", clip_value, "; give 0 or more");
  const NoGradGuard guard;
  for (Tensor gradient : gradients_of(parameters)) gradient.clamp_(-clip_value, clip_value);
}
void clip_grad_value_(const Tensor& parameter, double clip_value) {
  clip_grad_value_(Tensors{parameter}, clip_value);
}

}  // namespace gradus::nn::utils
