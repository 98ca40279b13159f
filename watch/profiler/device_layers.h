// One BackendLayer of a class before the backend of each type of device.
#pragma once

#include "gradus/cuda/runtime/device.h"
#include "gradus/tensor/backend_layer.h"

namespace gradus::profiler {

// Operations may run meanwhile: the layers are never destroyed.
template <class Layer>
class DeviceLayers {
 public:
  // Puts one before each device type that there is; takes them away. REQUIRES: the calls alternate.
  static void install() {
    for (const DeviceType type : {kCPU, kCUDA})
      if (is_there(type)) of(type).install(type);
  }
  static void remove() {
    for (const DeviceType type : {kCPU, kCUDA})
      if (is_there(type)) of(type).remove();
  }

 private:
  static bool is_there(DeviceType type) { return type == kCPU || cuda::is_available(); }
  static Layer& of(DeviceType type) {
    static Layer &cpu = *new Layer, &cuda = *new Layer;
    return type == kCPU ? cpu : cuda;
  }
};

}  // namespace gradus::profiler
