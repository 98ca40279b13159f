// libtorch's header <c10/core/Layout.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
