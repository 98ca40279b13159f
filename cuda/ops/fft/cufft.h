// Fourier transforms by cuFFT, which is looked for when it is first used.
#pragma once

#include <cuda_runtime_api.h>

#include "gradus/tensor/backend.h"

namespace gradus::cuda {

// Backend::fft on this stream of the current device. A simulated device has none.
// Errors: Error where cuFFT is missing or fails.
void cufft_transform(const FourierTransform& how, const Tensor& x, const Tensor& out,
                     cudaStream_t stream);

}  // namespace gradus::cuda
