// Limits for gradients, in place, before an optimizer steps.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::nn::utils {

// The norm of all tensors as one vector, on the device of the first; 0 on the CPU for none.
// norm_type may be infinity. error_if_nonfinite waits for the norm. Errors: Error where it is not
// finite and error_if_nonfinite is set.
Tensor get_total_norm(const Tensors& tensors, double norm_type = 2,
                      bool error_if_nonfinite = false);
// Scales the gradients by max_norm / (total_norm + 1e-6) where that is less than 1. Nothing waits
// for the GPU, so with get_total_norm it can be captured in a graph, as clip_grad_norm_ cannot.
// total_norm: a number, as get_total_norm returns it. Parameters without a gradient are passed
// over.
void clip_grads_with_norm_(const Tensors& parameters, double max_norm, const Tensor& total_norm);
void clip_grads_with_norm_(const Tensor& parameter, double max_norm, const Tensor& total_norm);
// Takes the norm of all gradients as one vector. Scales them down where it is larger than max_norm.
// Returns the norm before. norm_type may be infinity. Parameters without a gradient are passed
// over; the norm of nothing is 0. A norm that is not finite leaves 0 or NaN.
// Errors: with error_if_nonfinite, Error where the norm is not finite; nothing is changed then.
double clip_grad_norm_(const Tensors& parameters, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false);
double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false);
// Brings each element of the gradients into [-clip_value, clip_value].
// Errors: ValueError for a negative clip_value.
void clip_grad_value_(const Tensors& parameters, double clip_value);
void clip_grad_value_(const Tensor& parameter, double clip_value);

}  // namespace gradus::nn::utils
