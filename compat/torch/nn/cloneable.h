// libtorch's header <torch/nn/cloneable.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
