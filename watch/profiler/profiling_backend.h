// ProfilingBackend: stands in the place of a device's backend while a profile runs, and notes each
// operation that it hands on.
#pragma once

#include <atomic>

#include "gradus/tensor/backend.h"

namespace gradus::profiler {

class ProfilingBackend final : public Backend {
 public:
  // Puts one before the backend of each device that there is; takes them away. Operations may run
  // meanwhile: the backends are never destroyed. REQUIRES: the calls alternate.
  static void install();
  static void remove();

#define ROW(result, name, called, parameters, ...) result name parameters override;
#include "gradus/tensor/table/backend.def"

 private:
  ProfilingBackend() = default;
  static ProfilingBackend& of(DeviceType type);
  Backend& inner() const { return *inner_.load(std::memory_order_acquire); }

  std::atomic<Backend*> inner_{nullptr};
  Backend* exchanged_ = nullptr;  // what exchange_backend gave
};

}  // namespace gradus::profiler
