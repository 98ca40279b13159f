// The three Fourier transforms that all others are made of, with their gradients.
#pragma once

#include "gradus/autograd/functions.h"
#include "gradus/tensor/backend.h"

namespace gradus::spectral {

// raw::fourier, fourier_half and fourier_real. transform() gives x itself where there are no
// dimensions.
Tensor transform(const FourierTransform& how, const Tensor& x);
Tensor transform_to_half(const FourierTransform& how, const Tensor& x);
Tensor transform_to_real(const FourierTransform& how, const Tensor& x, int64_t n);

// x in the dtype that is transformed: the default one for integers; complex where asked for.
// Errors: TypeError for half types.
Tensor promoted(const char* op, const Tensor& x, bool complex);
// The factor of a transform: 1, 1 / n or 1 / sqrt(n). Errors: ValueError for another norm.
double scale_of(const char* op, std::optional<std::string_view> norm, bool forward, double n);

}  // namespace gradus::spectral
