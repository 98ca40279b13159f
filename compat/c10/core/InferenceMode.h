// libtorch's header <c10/core/InferenceMode.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
