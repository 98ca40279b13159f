// Matrix products by cuBLAS, a peer of the hand-written ones, and by cuBLASLt, the default for 16
// bits and for TF32. Both are loaded when they are first used.
#pragma once

#include "gradus/cuda/kernels/matmul/operand.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Errors: Error where there is no cuBLAS.
void need_cublas();

// The product without the bias, in the arithmetic of T (no TF32), on the current device and stream.
// REQUIRES: m, n, k and batches are positive.
// Errors: Error where cuBLAS is missing, cannot express the strides, or fails.
void cublas_matmul(const MatmulArgs<float>& args, int64_t batches);
void cublas_matmul(const MatmulArgs<double>& args, int64_t batches);

// --- cuBLASLt
// Whether there is a cuBLASLt; simulated devices have none. The first call looks for it.
bool has_cublas_lt();

// out (B, M, N) = a (B, M, K) * b (B, K, N) + bias (N) by tensor cores; bias may be undefined.
// Operands are Half or BFloat16, with out and bias of that type or Float. Or all are Float, and the
// operands are rounded to TF32. The sums are float32, and rounded once. `sums` (M) of out's
// type may get the sums of a's rows where there is neither a bias nor a batch. Returns false and
// does nothing where cuBLAS cannot express the strides, or has no algorithm. REQUIRES:
// has_cublas_lt(); the device is current; out is contiguous; no size is 0. Errors: Error where
// cuBLAS fails, or has to be set up while a graph is captured.
bool cublas_lt_matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out,
                      const Tensor& sums = {});

// --- Half types and TF32, by cuBLASLt or by the kernels of this library (matmul/half.cu)
// Backend::matmul for a and b of a half type. out and bias are of that type or Float. cuBLAS
// multiplies where there is one that can express the strides, else the kernel `tiled`.
// REQUIRES: the device of out is current.
// Errors: NotImplementedError where set_matmul_kernel() has named another kernel.
void matmul_half(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out);

// Backend::matmul_sums for a and b of a half type; out and sums are of it, or both Float.
void matmul_half_sums(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor& sums);

// Multiplies Floats as TF32 where set_float32_matmul_precision() allows it, no kernel was named,
// and cuBLAS can express the strides. Returns whether it did.
// REQUIRES: as for matmul_half.
bool matmul_tf32(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out);

// Whether matmul_tf32() does so, if cuBLAS can express the strides. Small products stay exact:
// cuBLAS makes them no sooner, and takes more of the host's time.
bool uses_tf32(const Tensor& a, const Tensor& out);

}  // namespace gradus::cuda
