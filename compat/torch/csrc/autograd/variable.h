// libtorch's header <torch/csrc/autograd/variable.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
