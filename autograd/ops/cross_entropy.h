// The cross entropy of rows of logits against class numbers as one operation.
#pragma once

#include "gradus/tensor/base/cross_entropy_rule.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

// The losses in x's dtype, or in float32 for half types; see Backend::cross_entropy. With `mean`,
// their sum divided by the sum of the factors. Only x gets a gradient.
// REQUIRES: x (N, C) is floating point and not empty, target (N) is int64, weight, which may be
// undefined, (C) of x's dtype. Errors: IndexError for a target that is no class.
Tensor row_cross_entropy(const CrossEntropyRule& rule, const Tensor& x, const Tensor& target,
                         const Tensor& weight, bool mean);

}  // namespace gradus
