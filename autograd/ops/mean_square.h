// The mean of squared differences as one operation.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus {

// The mean of (x - y)^2, of shape ().
// REQUIRES: x and y have one shape, device and dtype (Float, Double), and some elements.
Tensor mean_square(const Tensor& x, const Tensor& y);

}  // namespace gradus
