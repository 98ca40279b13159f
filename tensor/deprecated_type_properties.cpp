// The one DeprecatedTypeProperties of each device type and dtype, and Tensor::type.
#include "gradus/tensor/deprecated_type_properties.h"

#include <ostream>

#include "gradus/tensor/tensor.h"

namespace gradus {

DeprecatedTypeProperties& getDeprecatedTypeProperties(DeviceType backend, ScalarType dtype) {
  static DeprecatedTypeProperties all[][2] = {
#define DTYPE(name, cpp_type, short_name, kind, computed) \
  {{kCPU, ScalarType::name}, {kCUDA, ScalarType::name}},
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  };
  return all[static_cast<int>(dtype)][backend == kCUDA];
}

std::string DeprecatedTypeProperties::toString() const {
  return std::string(is_cuda() ? "CUDA" : "CPU") + gradus::toString(dtype_) + "Type";
}
DeprecatedTypeProperties& DeprecatedTypeProperties::toBackend(DeviceType backend) const {
  return getDeprecatedTypeProperties(backend, dtype_);
}
DeprecatedTypeProperties& DeprecatedTypeProperties::toScalarType(ScalarType dtype) const {
  return getDeprecatedTypeProperties(device_, dtype);
}

std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type) {
  return out << type.toString();
}

DeprecatedTypeProperties& Tensor::type() const {
  return getDeprecatedTypeProperties(device().type(), scalar_type());
}

}  // namespace gradus
