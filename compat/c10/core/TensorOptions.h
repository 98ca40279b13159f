// libtorch's header <c10/core/TensorOptions.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
