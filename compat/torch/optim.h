// libtorch's header <torch/optim.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
