// NVML, NVIDIA's library that watches devices: the functions that device_status calls.
#pragma once

#include <initializer_list>

#include "gradus/cuda/device_status.h"

namespace gradus::cuda {

// The functions as nvml.h declares them; 0 is success.
struct Nvml {
  using Device = struct nvmlDevice_st*;
  struct Utilization {
    unsigned gpu, memory;  // percent
  };
  struct Memory {
    unsigned long long total, free, used;
  };
  int (*init)();
  const char* (*error)(int status);
  int (*by_bus_id)(const char* bus_id, Device* device);
  int (*utilization)(Device device, Utilization* out);
  int (*memory)(Device device, Memory* out);
  int (*power)(Device device, unsigned* milliwatts);
  int (*power_limit)(Device device, unsigned* milliwatts);
  int (*temperature)(Device device, int sensor, unsigned* degrees);

  // The first of these libraries that can be loaded, ready for use. Errors: Error.
  static Nvml load(std::initializer_list<const char*> files);
  // The state of the device with this PCI bus id. Errors: Error where NVML refuses; a figure that
  // the device does not tell is none.
  DeviceStatus status(const char* bus_id) const;
};

}  // namespace gradus::cuda
