// The choice of the kernel that a matrix product on a GPU runs, for the whole process.
//
// The environment variable GRADUS_MATMUL=name makes it at the start.
#pragma once

#include <string_view>

#include "gradus/tensor/shape.h"

namespace gradus::cuda {

// The names: "automatic"; the ladder from its slowest rung to its fastest (naive, coalesced, tiled,
// register_1d, register_2d, vectorized, tensor_cores, wgmma); "cublas", the peer to compare with.
ArrayRef<std::string_view> matmul_kernels();

// The one in use; "automatic" unless set. "automatic" picks the tile by the shape. It runs cuBLAS
// for half types and TF32, or "tiled" where there is no cuBLAS or it cannot express the strides.
// Large products of half types run wgmma on Hopper if a size is no multiple of 8. Up to 16 rows of
// half types have a kernel of their own.
// Errors: ValueError where GRADUS_MATMUL names none.
std::string_view matmul_kernel();

// Sets the kernel of all products to come, by its name.
// Errors: ValueError, listing the names, for an unknown one; Error for "cublas" where cuBLAS is not
// installed. A later product is a
// NotImplementedError for a dtype that the kernel does not have: float64 has the rungs up to
// register_2d, int64 up to tiled; half types have tiled and wgmma; cuBLAS has no int64. So it is
// for "tensor_cores" on a GPU of a compute capability below 8.0, and for "wgmma" on one other
// than 9.0. It is an Error for strides that "cublas" cannot express.
void set_matmul_kernel(std::string_view name);

}  // namespace gradus::cuda
