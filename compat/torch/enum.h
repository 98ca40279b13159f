// libtorch's header <torch/enum.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
