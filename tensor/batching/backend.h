// The backend of a thread under vmap: it does for all samples at once what operations ask for one.
#pragma once

#include "gradus/tensor/backend.h"

namespace gradus::batching {

// It stands before the backend of this device type. REQUIRES: here().
Backend& batch_backend(DeviceType type);

}  // namespace gradus::batching
