#include "gradus/cuda/context.h"

#include "gradus/cuda/allocator.h"
#include "gradus/cuda/check.h"
#include "gradus/cuda/fault.h"
#include "gradus/cuda/launch.h"
#include "gradus/cuda/stats.h"

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
