// libtorch's header <ATen/ScalarType.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
