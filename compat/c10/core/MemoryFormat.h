// libtorch's header <c10/core/MemoryFormat.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
