// libtorch's header <torch/csrc/autograd/custom_function.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
