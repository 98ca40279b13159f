// A device's kind and a dtype, which libtorch's older programs call the type of a tensor: x.type(),
// at::CPU(kFloat).
#pragma once

#include <iosfwd>
#include <string>

#include "gradus/tensor/backend.h"
#include "gradus/tensor/options.h"

namespace gradus {

class DeprecatedTypeProperties {
 public:
  DeprecatedTypeProperties(DeviceType device, ScalarType dtype) : device_(device), dtype_(dtype) {}

  // Backend::CPU or Backend::CUDA.
  DeviceType backend() const { return device_; }
  DeviceType device_type() const { return device_; }
  Layout layout() const { return kStrided; }
  bool is_cuda() const { return device_ == kCUDA; }
  bool is_sparse() const { return false; }
  ScalarType scalarType() const { return dtype_; }
  TypeMeta typeMeta() const { return dtype_; }
  // "CPUFloatType".
  std::string toString() const;

  DeprecatedTypeProperties& toBackend(DeviceType backend) const;
  DeprecatedTypeProperties& toScalarType(ScalarType dtype) const;
  DeprecatedTypeProperties& cpu() const { return toBackend(kCPU); }
  DeprecatedTypeProperties& cuda() const { return toBackend(kCUDA); }

  TensorOptions options(DeviceIndex device_index = -1) const {
    return TensorOptions(dtype_).device(device_, device_index);
  }
  operator TensorOptions() const { return options(); }  // NOLINT: implicit

  friend bool operator==(const DeprecatedTypeProperties&,
                         const DeprecatedTypeProperties&) = default;

 private:
  DeviceType device_;
  ScalarType dtype_;
};

std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type);

// The one of a device's kind and a dtype, since programs keep references.
DeprecatedTypeProperties& getDeprecatedTypeProperties(DeviceType backend, ScalarType dtype);
inline DeprecatedTypeProperties& CPU(ScalarType dtype) {
  return getDeprecatedTypeProperties(kCPU, dtype);
}
inline DeprecatedTypeProperties& CUDA(ScalarType dtype) {
  return getDeprecatedTypeProperties(kCUDA, dtype);
}

}  // namespace gradus
