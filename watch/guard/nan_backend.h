// NanBackend: stands before a device's backend while a NanGuard lives, and looks at the results of
// each operation.
#pragma once

#include "gradus/tensor/backend_layer.h"

namespace gradus::guarding {

class NanBackend final : public BackendLayer {
 public:
#define ROW(result, name, called, parameters, ...) result name parameters override;
#include "gradus/tensor/table/backend.def"
};

}  // namespace gradus::guarding
