// libtorch's header <torch/special.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
