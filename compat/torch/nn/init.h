// libtorch's header <torch/nn/init.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
