// TensorOptions: what a factory is told beside the shape. Every part may be left out.
//
//   zeros({2, 3}, dtype(kDouble).device(kCUDA).requires_grad(true))
#pragma once

#include <optional>

#include "gradus/tensor/device.h"
#include "gradus/tensor/dtype.h"

namespace gradus {

class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType dtype) : dtype_(dtype) {}         // NOLINT: implicit, as in libtorch
  TensorOptions(Device device) : device_(device) {}          // NOLINT
  TensorOptions(DeviceType type) : device_(Device(type)) {}  // NOLINT
  // A literal: from a pointer, the number 0 would be an option, and arange(3, 0) ambiguous.
  template <size_t N>
  TensorOptions(const char (&device)[N]) : device_(Device(device)) {}  // NOLINT

  TensorOptions dtype(std::optional<ScalarType> dtype) const {
    TensorOptions out = *this;
    out.dtype_ = dtype;
    return out;
  }
  TensorOptions device(std::optional<Device> device) const {
    TensorOptions out = *this;
    out.device_ = device;
    return out;
  }
  TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(Device(type, index));
  }
  TensorOptions requires_grad(std::optional<bool> requires_grad) const {
    TensorOptions out = *this;
    out.requires_grad_ = requires_grad;
    return out;
  }

  // The default dtype, the CPU and false where nothing was said.
  ScalarType dtype() const { return dtype_.value_or(get_default_dtype()); }
  Device device() const { return device_.value_or(Device(kCPU)); }
  bool requires_grad() const { return requires_grad_.value_or(false); }
  std::optional<ScalarType> dtype_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }

 private:
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<bool> requires_grad_;
};

inline TensorOptions dtype(ScalarType dtype) { return TensorOptions(dtype); }
inline TensorOptions device(Device device) { return TensorOptions(device); }
inline TensorOptions device(DeviceType type, DeviceIndex index = -1) {
  return TensorOptions(Device(type, index));
}
inline TensorOptions requires_grad(bool requires_grad = true) {
  return TensorOptions().requires_grad(requires_grad);
}

}  // namespace gradus
