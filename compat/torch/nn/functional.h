// libtorch's header <torch/nn/functional.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
