// libtorch's header <c10/core/Scalar.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
