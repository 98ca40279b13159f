// NanBackend: stands before a device's backend while a NanGuard lives, and looks at the results of
// each operation.
#pragma once

#include "gradus/tensor/backend_layer.h"

namespace gradus::guarding {

class NanBackend final : public BackendLayer {
 public:
  // Puts one before the backend of each device that there is; takes them away.
  static void install_all();
  static void remove_all();

#define ROW(result, name, called, parameters, ...) result name parameters override;
#include "gradus/tensor/table/backend.def"

 private:
  NanBackend() = default;
  static NanBackend& of(DeviceType type);
};

}  // namespace gradus::guarding
