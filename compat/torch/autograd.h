// libtorch's header <torch/autograd.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
