// Products on a GPU whose operands tensor cores read as they are: 16 bits, and TF32.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// As Backend::matmul, for a and b of a half type. out and bias are of that type or Float. By cuBLAS
// where there is one that can express the strides, else by the kernel `tiled`.
// REQUIRES: the device of out is current.
// Errors: NotImplementedError where set_matmul_kernel() has named another kernel.
void matmul_half(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out);

// Multiplies Floats as TF32, and returns true, where set_float32_matmul_precision() allows it, no
// kernel was named, and cuBLAS can express the strides.
// REQUIRES: as for matmul_half.
bool matmul_tf32(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out);

// Whether matmul_tf32() does so.
bool uses_tf32();

}  // namespace gradus::cuda
