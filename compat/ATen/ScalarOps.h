// at::scalar_to_tensor.
#pragma once

#include "gradus/tensor/factories.h"

namespace gradus {

// A tensor of no dimensions. Its dtype is the widest of the number's kind: float64, int64 or bool.
inline Tensor scalar_to_tensor(const Scalar& value, Device device = kCPU) {
  return scalar_tensor(value, TensorOptions(value.type()).device(device));
}

}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
