// libtorch's header <ATen/Functions.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
