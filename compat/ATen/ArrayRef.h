// libtorch's header <ATen/ArrayRef.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
