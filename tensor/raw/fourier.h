// Fourier transforms, without a graph. Every dtype is Float, Double or the complex one of their
// width, which the caller has checked. Without elements nothing is computed.
#pragma once

#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

// Of complex numbers.
Tensor fourier(const FourierTransform& how, const Tensor& x);
// Of real numbers, forward: the first half of the last of the dimensions.
Tensor fourier_half(const FourierTransform& how, const Tensor& x);
// The real numbers, n in the last of the dimensions, of which x is such a half, backward.
Tensor fourier_real(const FourierTransform& how, const Tensor& x, int64_t n);

}  // namespace gradus::raw
