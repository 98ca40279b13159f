// gradus::matmul for other functions, with their names in its errors.
#pragma once

#include "gradus/tensor/raw/raw.h"

namespace gradus::autograd {

// gradus::matmul, whose errors say `names`.
Tensor matmul(const Tensor& self, const Tensor& other, const raw::ProductNames& names);

}  // namespace gradus::autograd
