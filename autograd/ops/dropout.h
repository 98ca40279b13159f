// The common part of dropout and attention.
#pragma once

#include "gradus/tensor/generator.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

// x with elements left out, as the state chooses them, and the others divided by 1 - p. The
// gradient leaves out the same ones: they are drawn again, and nothing is saved. REQUIRES: x is
// contiguous.
Tensor thinned(const Tensor& x, double p, PhiloxState state);

}  // namespace gradus
