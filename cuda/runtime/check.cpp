// The messages of CUDA's status codes.
#include "gradus/cuda/runtime/check.h"

#include "gradus/cuda/runtime/launch.h"

namespace gradus::cuda::detail {

namespace {

// Errors of a kernel that come up at whatever call is made after it; the device is lost for the
// process from then on.
bool stems_from_a_kernel(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
    case cudaErrorLaunchTimeout:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

const char* fix_for(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return "; free tensors, call cuda::empty_cache(), or use a smaller batch";
    case cudaErrorNoKernelImageForDevice:
      return "; this build has no code for the device: configure with "
             "-DCMAKE_CUDA_ARCHITECTURES=<its compute capability, 86 for 8.6>";
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidValue:
      return "; a launch must keep to 1024 threads a block, 65535 blocks in y and z of a grid, and "
             "the device's shared memory; another call to pointers and sizes that exist";
    case cudaErrorLaunchOutOfResources:
      return "; the kernel needs too many registers for this block: use fewer threads or "
             "__launch_bounds__";
    case cudaErrorInvalidResourceHandle:
      return "; is the stream or event one of another device? Set the device with DeviceGuard";
    case cudaErrorInitializationError:
#ifdef GRADUS_SIMULATED
      return "";  // the simulator's text says what to check
#else
      return "; CUDA does not work in a process forked after its first use: start a fresh one";
#endif
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorCapturedEvent:
      return "; work that is captured for a graph is recorded and not run, so nothing can wait for "
             "it: do this before capture_begin() or after replay()";
    case cudaErrorStreamCaptureInvalidated:
      return "; the capture was spoilt by an earlier call: call reset(), and capture again without "
             "it";
    case cudaErrorStreamCaptureUnjoined:
      return "; let the captured stream wait for an event behind the work of every other stream";
    case cudaErrorStreamCaptureIsolation:
      return "; a captured stream can wait only for work of the capture: wait for other work "
             "before "
             "capture_begin()";
    case cudaErrorECCUncorrectable:
    case cudaErrorSystemNotReady:
      return "; see nvidia-smi for the state of the device";
    default:
      return "";
  }
}

}  // namespace

void fail_cuda(cudaError_t status, const std::string& operation) {
  cudaGetLastError();  // forget it, or a later caller would take it for its own
  std::string message = operation + ": CUDA error " + cudaGetErrorName(status) + " (" +
                        cudaGetErrorString(status) + ")" + fix_for(status);
  if (status == cudaErrorMemoryAllocation) throw OutOfMemoryError(std::move(message));
  if (stems_from_a_kernel(status)) {
    message += "; a kernel failed, and the device cannot be used again in this process";
    if (!launches_block()) message += ". Run with GRADUS_CUDA_BLOCKING=1 to learn which";
    message += ". Recent launches, newest first:\n" + recent_launches();
  }
  throw Error(std::move(message));
}

}  // namespace gradus::cuda::detail
