// Products that are parts of other functions.
#pragma once

#include "gradus/tensor/raw/raw.h"

namespace gradus::autograd {

// gradus::matmul, whose errors say `names`.
Tensor matmul(const Tensor& self, const Tensor& other, const raw::ProductNames& names);

}  // namespace gradus::autograd
