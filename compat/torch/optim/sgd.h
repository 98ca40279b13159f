// libtorch's header <torch/optim/sgd.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
