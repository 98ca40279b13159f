// libtorch's header <c10/util/Half.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
