// The checks of from_blob on memory that is not the library's.
#pragma once

#include "gradus/tensor/base/device.h"

namespace gradus {

// Errors: Error of `op` where data is not memory that kernels on this CUDA device can read; defined
// in cuda/.
void check_cuda_memory(const char* op, const void* data, Device device);

}  // namespace gradus
