// Convolutions of 3 x 3 elements by fewer multiplications (winograd.cpp).
#pragma once

#include "gradus/tensor/base/windows.h"

namespace gradus::cpu {

// Whether they are faster, by this shape alone.
bool takes_winograd(const Convolution& shape);

// The parts of a convolution, as in convolution.cpp. bias may be null. REQUIRES: takes_winograd.
// Errors: OutOfMemoryError.
void winograd_output(const Convolution& shape, const float* input, const float* weight,
                     const float* bias, float* out);
void winograd_input(const Convolution& shape, const float* grad, const float* weight, float* out);
void winograd_weight(const Convolution& shape, const float* grad, const float* input, float* out);

}  // namespace gradus::cpu
