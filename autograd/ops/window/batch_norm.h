// batch_norm as modules call it.
#pragma once

#include "gradus/tensor/base/normalized_rows.h"
#include "gradus/tensor/tensor.h"

namespace gradus::autograd {

// batch_norm, of a batch's own statistics while training. count, where it is defined, becomes one
// more. after: of the result, in the same passes over memory; identity is what is added.
// REQUIRES: identity has the shape, dtype and device of input, which has elements then; without
// training nothing follows unless follows_given().
Tensor batch_norm_step(const Tensor& input, bool training, const Tensor& weight, const Tensor& bias,
                       const Tensor& running_mean, const Tensor& running_var, const Tensor& count,
                       double momentum, double eps, AfterNorm after, const Tensor& identity = {});
// Whether a kernel makes batch norm by running statistics and what follows it: on a GPU, where
// nothing is recorded.
bool follows_given(const Tensor& input, const Tensor& weight, const Tensor& bias,
                   const Tensor& running_mean, const Tensor& running_var, const Tensor& identity);

}  // namespace gradus::autograd
