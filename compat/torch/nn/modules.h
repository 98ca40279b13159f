// libtorch's header <torch/nn/modules.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
