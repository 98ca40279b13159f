// check_cuda: turns a CUDA status code into a gradus::Error. Every status goes through it.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "gradus/tensor/base/error.h"

namespace gradus::cuda {

namespace detail {
[[noreturn]] void fail_cuda(cudaError_t status, const std::string& operation);
}

// Throws unless status is cudaSuccess. The parts are joined as in check() and say which operation
// it was. The message adds CUDA's name and text for the status, and a fix where there is one. It
// lists the recent launches where the status may stem from an earlier kernel.
// Errors: OutOfMemoryError for cudaErrorMemoryAllocation, else Error.
template <class... Parts>
inline void check_cuda(cudaError_t status, const Parts&... operation) {
  if (status == cudaSuccess) [[likely]]
    return;
  using gradus::detail::append;
  std::string text;
  (append(text, operation), ...);
  detail::fail_cuda(status, text);
}

}  // namespace gradus::cuda
