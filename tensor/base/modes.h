// The modes of the current thread, which operations obey besides computing.
// autograd/engine/grad_mode.h and autograd/engine/autocast.h hold the guards that set them.
#pragma once

#include "gradus/tensor/base/device.h"
#include "gradus/tensor/base/dtype.h"

namespace gradus {

// Operations on tensors of one type of device under autocast.
struct DeviceAutocast {
  bool enabled = false;
  ScalarType dtype = kBFloat16;  // of products
};

struct AutocastMode {
  bool casts = false;  // it is enabled for some device, and no operation runs that was cast for
  bool caches = true;
  DeviceAutocast devices[kDeviceTypes] = {{.dtype = kBFloat16}, {.dtype = kHalf}};
};

struct ThreadModes {
  bool grad = true;        // operations record the graph
  bool inference = false;  // tensors that are made can never become part of a graph
  AutocastMode autocast;
};

inline constinit thread_local ThreadModes thread_modes;

}  // namespace gradus
