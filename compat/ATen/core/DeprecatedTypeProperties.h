// at::CPU(kFloat) and at::CUDA(kFloat), which old programs hand to factories.
#pragma once

#include "gradus/tensor/options.h"

namespace gradus {

using DeprecatedTypeProperties = TensorOptions;
inline TensorOptions CPU(ScalarType dtype) { return TensorOptions(dtype).device(kCPU); }
inline TensorOptions CUDA(ScalarType dtype) { return TensorOptions(dtype).device(kCUDA); }

}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
