// A device's kind and a dtype, which libtorch's older programs call the type of a tensor: x.type(),
// at::CPU(kFloat).
#pragma once

#include <ostream>
#include <string>

#include "gradus/tensor/options.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

namespace compat {
// at::Backend::CPU, what libtorch calls a device's kind of tensors.
struct Backend {
  static constexpr DeviceType CPU = kCPU, CUDA = kCUDA;
};
}  // namespace compat

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
  std::string toString() const {
    return std::string(is_cuda() ? "CUDA" : "CPU") + gradus::toString(dtype_) + "Type";
  }

  inline DeprecatedTypeProperties& toBackend(DeviceType backend) const;
  inline DeprecatedTypeProperties& toScalarType(ScalarType dtype) const;
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

inline std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type) {
  return out << type.toString();
}

// The one of a device's kind and a dtype, since programs keep references.
inline DeprecatedTypeProperties& getDeprecatedTypeProperties(DeviceType backend, ScalarType dtype) {
  static DeprecatedTypeProperties all[][2] = {
#define DTYPE(name, cpp_type, short_name, kind, computed) \
  {{kCPU, ScalarType::name}, {kCUDA, ScalarType::name}},
#define COMPLEX(...) DTYPE(__VA_ARGS__)
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  };
  return all[static_cast<int>(dtype)][backend == kCUDA];
}
inline DeprecatedTypeProperties& CPU(ScalarType dtype) {
  return getDeprecatedTypeProperties(kCPU, dtype);
}
inline DeprecatedTypeProperties& CUDA(ScalarType dtype) {
  return getDeprecatedTypeProperties(kCUDA, dtype);
}

DeprecatedTypeProperties& DeprecatedTypeProperties::toBackend(DeviceType backend) const {
  return getDeprecatedTypeProperties(backend, dtype_);
}
DeprecatedTypeProperties& DeprecatedTypeProperties::toScalarType(ScalarType dtype) const {
  return getDeprecatedTypeProperties(device_, dtype);
}
inline DeprecatedTypeProperties& Tensor::type() const {
  return getDeprecatedTypeProperties(device().type(), scalar_type());
}

}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
