// libtorch's header <torch/nn/module.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
