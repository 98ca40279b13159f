// libtorch's header <torch/cuda.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
