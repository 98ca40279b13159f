// libtorch's header <ATen/TensorOptions.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
