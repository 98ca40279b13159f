// cuBLAS as a peer of the hand-written matrix products.
#pragma once

#include "gradus/cuda/kernels/matmul.h"

namespace gradus::cuda {

// The product without the bias, in the arithmetic of T (no TF32), on the current device and stream.
// REQUIRES: m, n, k and batches are positive.
// Errors: Error where cuBLAS cannot express the strides, or fails.
void cublas_matmul(const MatmulArgs<float>& args, int64_t batches);
void cublas_matmul(const MatmulArgs<double>& args, int64_t batches);

}  // namespace gradus::cuda
