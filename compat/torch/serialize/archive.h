// libtorch's header <torch/serialize/archive.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
