// libtorch's header <torch/all.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
