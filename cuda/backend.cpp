// The one CudaBackend, and its allocations.
#include "gradus/cuda/backend.h"

#include "gradus/cuda/runtime/allocator.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/stream.h"

namespace gradus {

Backend& cuda_backend() {
  check<Error>(cuda::is_available(), "cuda: ", cuda::why_unavailable(),
               "; or compute on the CPU with .to(kCPU)");
  static auto& backend = *new cuda::CudaBackend;
  return backend;
}

namespace cuda {

StoragePtr CudaBackend::allocate(size_t nbytes, Device device) {
  return detail::allocate(nbytes, getCurrentCUDAStream(resolve(device).index()));
}

Device CudaBackend::resolve(Device device) {
  if (!device.has_index()) return {kCUDA, static_cast<DeviceIndex>(current_device())};
  check<Error>(device.index() < device_count(), "Device: ", device,
               " does not exist; this machine has ", device_count(),
               device_count() == 1 ? " CUDA device, cuda:0" : " CUDA devices, from cuda:0 on");
  return device;
}

}  // namespace cuda
}  // namespace gradus
