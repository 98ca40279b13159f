// at::CPU(kFloat) and at::CUDA(kFloat), which old programs hand to factories.
#pragma once

#include <map>
#include <utility>

#include "gradus/tensor/options.h"

namespace gradus {

using DeprecatedTypeProperties = TensorOptions;

namespace detail {
// One for each dtype of a device, since programs keep references.
inline TensorOptions& type_properties(DeviceType device, ScalarType dtype) {
  thread_local std::map<std::pair<DeviceType, ScalarType>, TensorOptions> known;
  return known[{device, dtype}] = TensorOptions(dtype).device(device);
}
}  // namespace detail
inline TensorOptions& CPU(ScalarType dtype) { return detail::type_properties(kCPU, dtype); }
inline TensorOptions& CUDA(ScalarType dtype) { return detail::type_properties(kCUDA, dtype); }

}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
