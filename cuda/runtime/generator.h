// The random generators of CUDA devices.
#pragma once

#include "gradus/cuda/runtime/device.h"
#include "gradus/tensor/generator.h"

namespace gradus::cuda {

// Seeds the default generator of the current device, or of all; nothing where there is no device.
inline void manual_seed(uint64_t seed) {
  if (is_available())
    default_generator(Device(kCUDA, static_cast<DeviceIndex>(current_device())))
        .set_current_seed(seed);
}
inline void manual_seed_all(uint64_t seed) {
  for (int64_t i = 0; i < device_count(); ++i)
    default_generator(Device(kCUDA, static_cast<DeviceIndex>(i))).set_current_seed(seed);
}

namespace detail {
// -1: of the current device.
// Errors: ValueError where there is no such device, Error where there is none at all.
Generator createCUDAGenerator(DeviceIndex index = -1);
const Generator& getDefaultCUDAGenerator(DeviceIndex index = -1);
}  // namespace detail

}  // namespace gradus::cuda
