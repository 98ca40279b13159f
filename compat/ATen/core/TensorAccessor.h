// libtorch's header <ATen/core/TensorAccessor.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
