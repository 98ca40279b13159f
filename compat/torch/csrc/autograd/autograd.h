// libtorch's header <torch/csrc/autograd/autograd.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
