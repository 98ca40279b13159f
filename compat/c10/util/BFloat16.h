// libtorch's header <c10/util/BFloat16.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
