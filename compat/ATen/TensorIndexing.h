// libtorch's header <ATen/TensorIndexing.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
