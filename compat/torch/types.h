// libtorch's header <torch/types.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
