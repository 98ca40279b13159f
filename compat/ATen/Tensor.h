// libtorch's header <ATen/Tensor.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
