// libtorch's header <torch/linalg.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
