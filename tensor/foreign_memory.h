// Memory of the CPU and of CUDA that factories leave to cuda/: checks of from_blob, and page-locked
// memory.
#pragma once

#include "gradus/tensor/base/device.h"
#include "gradus/tensor/storage.h"

namespace gradus {

// Errors: Error of `op` where data is not memory that kernels on this CUDA device can read; defined
// in cuda/.
void check_cuda_memory(const char* op, const void* data, Device device);

// Calls cuda::allocate_pinned; defined in cuda/.
StoragePtr allocate_pinned_memory(size_t nbytes);

}  // namespace gradus
