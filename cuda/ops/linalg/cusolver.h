// Factorizations by cuSOLVER, which is looked for when it is first used, and by cuBLAS's functions
// for batches of small matrices.
#pragma once

#include <cuda_runtime_api.h>

#include "gradus/tensor/backend.h"

namespace gradus::cuda {

// Backend::factorize on this stream of the current device. A simulated device has none.
// Errors: Error where cuSOLVER is missing or fails.
void cusolver_factorize(Factorization op, const FactorizationForm& form, ArrayRef<Tensor> tensors,
                        cudaStream_t stream);

}  // namespace gradus::cuda
