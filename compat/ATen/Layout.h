// libtorch's header <ATen/Layout.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
