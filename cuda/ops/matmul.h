// Which kernel a matrix product on a GPU runs: a choice for the whole process.
//
// The environment variable GRADUS_MATMUL=name makes it at the start.
#pragma once

#include <string_view>

#include "gradus/tensor/shape.h"

namespace gradus::cuda {

// "automatic", then the ladder from its slowest rung to its fastest (naive, coalesced, tiled,
// register_1d, register_2d, vectorized, tensor_cores), then "cublas", the peer to compare with.
ArrayRef<std::string_view> matmul_kernels();

// The one in use; "automatic" unless set. It picks the tile by the shape, and for half types and
// TF32 runs cuBLAS, or "tiled" where there is none or the strides are none of cuBLAS's.
// Errors: ValueError where GRADUS_MATMUL names none.
std::string_view matmul_kernel();

// Sets the kernel of all products to come, by its name.
// Errors: ValueError, listing the names, for an unknown one. A later product is a
// NotImplementedError for a dtype that the kernel does not have (float64 has the rungs up to
// register_2d, int64 up to tiled; half types have tiled alone; cuBLAS has no int64), for
// "tensor_cores" on a GPU of a compute capability below 8.0, and with "cublas" an Error for strides
// that it cannot express.
void set_matmul_kernel(std::string_view name);

}  // namespace gradus::cuda
