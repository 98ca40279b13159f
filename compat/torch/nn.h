// libtorch's header <torch/nn.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
