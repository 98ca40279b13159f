// libtorch's header <torch/csrc/autograd/function.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
