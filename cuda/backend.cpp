// The one CudaBackend, and its allocations.
#include "gradus/cuda/backend.h"

#include "gradus/cuda/runtime/allocator.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/foreign_memory.h"

namespace gradus {

Backend& cuda_backend() {
  check<Error>(cuda::is_available(), "cuda: ", cuda::why_unavailable(),
               "; or compute on the CPU with .to(kCPU)");
  static auto& backend = *new cuda::CudaBackend;
  return backend;
}

void check_cuda_memory(const char* op, const void* data, Device device) {
  cudaPointerAttributes found{};
  cuda::check_cuda(cudaPointerGetAttributes(&found, data), op, ": cudaPointerGetAttributes");
  check<Error>(found.type != cudaMemoryTypeUnregistered, op,
               ": data points to memory of the host, and the device is ", device,
               "; leave the device out, and use .to(", device, ")");
  check<Error>(found.type != cudaMemoryTypeDevice || found.device == device.index(), op,
               ": data points to memory of cuda:", found.device, ", and the device is ", device,
               "; give the device that the memory is on");
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
