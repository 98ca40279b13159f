// libtorch's header <torch/serialize/input-archive.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
