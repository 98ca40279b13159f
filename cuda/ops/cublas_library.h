// cuBLAS, which is looked for when a function of it is first asked for. cuBLASLt is a part of it.
#pragma once

#include <cublas_v2.h>

#include <functional>
#include <string>

#include "gradus/cuda/rtc/loaded_library.h"

namespace gradus::cuda {

struct Cublas {
  decltype(&cublasCreate) create;
  decltype(&cublasDestroy) destroy;
  decltype(&cublasSetMathMode) set_math_mode;
  decltype(&cublasSetStream) set_stream;
  decltype(&cublasGetStatusString) error;
  decltype(&cublasGemmStridedBatchedEx_64) multiply;
};

// Errors: Error where it is missing.
const Cublas& cublas();

// Calls load with the library. `needs` begins the error.
// Errors: Error where it or a function is missing.
void load_cublas(const std::string& needs,
                 const std::function<void(const rtc::LoadedLibrary&)>& load);

}  // namespace gradus::cuda
