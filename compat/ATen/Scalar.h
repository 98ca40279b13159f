// libtorch's header <ATen/Scalar.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
