// Factorizations by cuSOLVER, which is looked for when it is first used, and by cuBLAS's functions
// for batches of small matrices.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "gradus/cuda/rtc/loaded_library.h"
#include "gradus/tensor/backend.h"

namespace gradus::cuda {

// Backend::factorize on this stream of the current device. A simulated device has none.
// Errors: Error where cuSOLVER is missing or fails.
void cusolver_factorize(Factorization op, const FactorizationForm& form, ArrayRef<Tensor> tensors,
                        cudaStream_t stream);

// Does `eig` alone.
void cusolver_eig(const FactorizationForm& form, ArrayRef<Tensor> tensors, cudaStream_t stream);

// Calls load with the library.
// Errors: Error where it or a function is missing.
void load_cusolver(const std::function<void(const rtc::LoadedLibrary&)>& load);
// A thread has one handle for a device. Returns that of the current one, on the stream.
void* cusolver_handle(cudaStream_t stream);

}  // namespace gradus::cuda
