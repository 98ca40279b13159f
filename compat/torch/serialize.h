// libtorch's header <torch/serialize.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
