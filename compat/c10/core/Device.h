// libtorch's header <c10/core/Device.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
