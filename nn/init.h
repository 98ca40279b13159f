// Initial values of parameters, in place, outside the graph.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::nn::init {

// Each returns its argument.
Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
Tensor constant_(Tensor tensor, const Scalar& value);
Tensor zeros_(Tensor tensor);
Tensor ones_(Tensor tensor);
// Uniform in +-sqrt(6 / ((1 + a^2) fan_in)): He et al., "Delving deep into rectifiers" (2015),
// section 2.2, for a leaky ReLU of negative slope a. fan_in is the number of inputs of an output.
Tensor kaiming_uniform_(Tensor tensor, double a = 0);
// Uniform in +-sqrt(6 / (fan_in + fan_out)), and normal of the same variance: Glorot and Bengio,
// "Understanding the difficulty of training deep feedforward neural networks" (2010).
Tensor xavier_uniform_(Tensor tensor);
Tensor xavier_normal_(Tensor tensor);

}  // namespace gradus::nn::init
