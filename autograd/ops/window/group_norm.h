// group_norm and silu as modules that stand in a row call them.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::autograd {

// Whether group_norm of input takes silu into its passes over memory: on a device that takes
// channels last, where they lie so.
bool group_norm_takes_silu(const Tensor& input);
// silu(group_norm(...)), rounded once. lowers: the result goes to a convolution alone, so that
// under autocast it is of the half type to which the convolution would convert it. REQUIRES:
// group_norm_takes_silu(input). Errors: ValueError as group_norm.
Tensor group_norm_silu(const Tensor& input, int64_t num_groups, const Tensor& weight,
                       const Tensor& bias, double eps, bool lowers);

}  // namespace gradus::autograd
