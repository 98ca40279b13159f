// libtorch's header <torch/utils.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
