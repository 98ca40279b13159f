// libtorch's header <ATen/core/Generator.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
