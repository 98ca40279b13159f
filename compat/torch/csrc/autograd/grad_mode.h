// libtorch's header <torch/csrc/autograd/grad_mode.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
