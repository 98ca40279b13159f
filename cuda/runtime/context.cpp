// The current device, and the end of every wait.
#include "gradus/cuda/runtime/context.h"

#include "gradus/cuda/runtime/allocator.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/fault.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/cuda/runtime/stats.h"

namespace gradus::cuda {

Context::Context(const Tensor& out)
    : guard(out.device().index()),
      stream(current_stream()),
      multiprocessors(getDeviceProperties(current_device()).multiprocessors) {}

void after_wait(cudaError_t status, int device, std::string_view operation) {
  detail::count(detail::counters.synchronizations);
  check_cuda(status, operation);
  throw_if_faulted(device);
}

}  // namespace gradus::cuda
