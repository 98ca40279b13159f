// batch_norm as a module that trains calls it.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::autograd {

// batch_norm of a batch's own statistics. count, where it is defined, becomes one more. relu: of
// the result, in the same passes over memory.
Tensor batch_norm_step(const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const Tensor& running_mean, const Tensor& running_var, const Tensor& count,
                       double momentum, double eps, bool relu);

}  // namespace gradus::autograd
