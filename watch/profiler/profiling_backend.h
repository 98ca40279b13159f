// ProfilingBackend: stands in the place of a device's backend while a profile runs, and notes each
// operation that it hands on.
#pragma once

#include "gradus/tensor/backend_layer.h"

namespace gradus::profiler {

class ProfilingBackend final : public BackendLayer {
 public:
#define ROW(result, name, called, parameters, ...) result name parameters override;
#include "gradus/tensor/table/backend.def"
};

}  // namespace gradus::profiler
