// libtorch's header <ATen/ATen.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
