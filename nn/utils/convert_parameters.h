// Parameters as one vector, and back.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::nn::utils {

// The elements of all parameters in their order; the vector has their graph.
// Errors: ValueError for parameters on different devices; so does the other function.
Tensor parameters_to_vector(const Tensors& parameters);
// Gives each parameter its part of the vector, whose memory they share from then on.
// Errors: ValueError where the vector has not as many elements as they have.
void vector_to_parameters(const Tensor& vec, const Tensors& parameters);

}  // namespace gradus::nn::utils
