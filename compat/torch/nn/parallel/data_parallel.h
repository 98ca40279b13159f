// libtorch's header <torch/nn/parallel/data_parallel.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
