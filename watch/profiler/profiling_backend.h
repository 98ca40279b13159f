// ProfilingBackend: stands in the place of a device's backend while a profile runs, and notes each
// operation that it hands on.
#pragma once

#include "gradus/tensor/backend_layer.h"

namespace gradus::profiler {

class ProfilingBackend final : public BackendLayer {
 public:
  // Puts one before the backend of each device that there is; takes them away. Operations may run
  // meanwhile: the backends are never destroyed. REQUIRES: the calls alternate.
  static void install_all();
  static void remove_all();

#define ROW(result, name, called, parameters, ...) result name parameters override;
#include "gradus/tensor/table/backend.def"

 private:
  ProfilingBackend() = default;
  static ProfilingBackend& of(DeviceType type);
};

}  // namespace gradus::profiler
