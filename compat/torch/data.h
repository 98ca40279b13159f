// libtorch's header <torch/data.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
