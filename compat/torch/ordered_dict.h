// libtorch's header <torch/ordered_dict.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
