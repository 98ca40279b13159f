// libtorch's header <torch/optim/optimizer.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
