// Where factories of Python make tensors when no device is given.
#pragma once

#include <optional>

#include "gradus/tensor/base/device.h"

namespace gradus::python {

// That of `with device:` or of set_default_device(), for this thread; nothing where there is none.
std::optional<Device> default_device();

}  // namespace gradus::python
