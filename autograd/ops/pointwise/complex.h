// The functions of complex numbers that functions of all numbers call.
#pragma once

#include "gradus/autograd/functions.h"

namespace gradus {

// REQUIRES: self is complex.
Tensor complex_abs(const Tensor& self);
Tensor complex_angle(const Tensor& self);

}  // namespace gradus
