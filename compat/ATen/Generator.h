// libtorch's header <ATen/Generator.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
