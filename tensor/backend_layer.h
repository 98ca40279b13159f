// BackendLayer: a backend that stands before a device's and hands calls on to it, as profiles and
// guards do. Layers may stand before one another, and go in any order.
#pragma once

#include <atomic>

#include "gradus/tensor/backend.h"

namespace gradus {

// A layer is never destroyed, since a thread may be in one of its functions.
class BackendLayer : public Backend {
 public:
  // Puts it before all that stands in the device type's place; takes it away.
  // REQUIRES: the calls for one layer alternate.
  void install(DeviceType type);
  void remove();

 protected:
  Backend& inner() const { return *inner_.load(std::memory_order_acquire); }

 private:
  std::atomic<Backend*> inner_{nullptr};
  Backend* exchanged_ = nullptr;  // what exchange_backend gave
  DeviceType type_ = kCPU;
};

}  // namespace gradus
