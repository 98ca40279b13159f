// device_status: of simulated devices and of GPUs.
#include "gradus/cuda/device_status.h"

#include <cuda_runtime_api.h>

#include "gradus/cuda/nvml.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/device.h"

namespace gradus::cuda {

namespace {

#ifdef GRADUS_SIMULATED
DeviceStatus status_of(int device) {
  const DeviceGuard guard(device);
  size_t available = 0, total = 0;
  check_cuda(cudaMemGetInfo(&available, &total), "device_status");
  DeviceStatus out;
  out.free_memory = static_cast<int64_t>(available);
  out.total_memory = static_cast<int64_t>(total);
  return out;
}
#else
DeviceStatus status_of(int device) {
  static const Nvml nvml = Nvml::load({"libnvidia-ml.so.1", "libnvidia-ml.so"});
  char bus_id[32] = "";
  check_cuda(cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), device), "device_status");
  return nvml.status(bus_id);
}
#endif

}  // namespace

DeviceStatus device_status(int device) {
  check<Error>(is_available(), "device_status: ", why_unavailable());
  const int index = checked_device("device_status", device);
  DeviceStatus out = status_of(index);
  const DeviceProperties& properties = getDeviceProperties(index);
  out.device = index;
  out.name = properties.name;
  out.simulated = properties.simulated;
  return out;
}

}  // namespace gradus::cuda
