// The rung wgmma of the matmul ladder as the host sees it: products on Hopper.
#pragma once

#include "gradus/cuda/kernels/matmul.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Whether the current device has these kernels: it is of compute capability 9.0, and this build has
// code for it.
bool has_wgmma();

// The time of wgmma_matmul in the unit of MatmulKernel; infinite where it does not take the product.
double wgmma_cost(const MatmulArgs<float>& args, int64_t batches, int64_t multiprocessors);

// out = a b + bias, float32, as exact as by multiply-add units, on the current device and stream.
// REQUIRES: wgmma_cost() is finite; m, n, k and batches are positive.
// Errors: OutOfMemoryError for the planes of the operands, 6 bytes an element.
void wgmma_matmul(const MatmulArgs<float>& args, int64_t batches, int64_t multiprocessors);

// out (B, M, N) = a (B, M, K) * b (B, K, N) + bias (N), all of one half type. Returns false and does
// nothing where this is no Hopper, or strides or addresses are no multiples of 16 bytes.
// REQUIRES: out is contiguous; no size is 0.
bool wgmma_matmul_half(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out);

}  // namespace gradus::cuda
