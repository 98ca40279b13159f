// libtorch's header <c10/core/DeviceType.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
