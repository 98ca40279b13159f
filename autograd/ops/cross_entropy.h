// The cross entropy of rows of logits against class numbers as one operation.
#pragma once

#include "gradus/tensor/base/cross_entropy_rule.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

// The losses, of x's dtype or, for half types, float32, of which Backend says more; or with `mean`
// their sum, divided by that of the factors. Only x gets a gradient.
// REQUIRES: x (N, C) is floating point and not empty, target (N) is int64, weight, which may be
// undefined, (C) of x's dtype. Errors: IndexError for a target that is no class.
Tensor row_cross_entropy(const CrossEntropyRule& rule, const Tensor& x, const Tensor& target,
                         const Tensor& weight, bool mean);

}  // namespace gradus
