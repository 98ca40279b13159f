// Fourier transforms, without a graph. Every dtype is Float, Double or the complex one of their
// width, which the caller has checked. An empty result is not computed.
#pragma once

#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

// The transform of complex numbers.
Tensor fourier(const FourierTransform& how, const Tensor& x);
// The forward transform of real numbers: the first half of the last of the dimensions.
Tensor fourier_half(const FourierTransform& how, const Tensor& x);
// The inverse of such a half x: real numbers, n in the last of the dimensions.
Tensor fourier_real(const FourierTransform& how, const Tensor& x, int64_t n);

}  // namespace gradus::raw
