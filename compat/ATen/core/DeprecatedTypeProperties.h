// libtorch's header <ATen/core/DeprecatedTypeProperties.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
#include "gradus/tensor/deprecated_type_properties.h"
