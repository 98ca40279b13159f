// libtorch's header <ATen/core/Tensor.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
