// libtorch's header <torch/serialize/tensor.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
