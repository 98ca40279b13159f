// libtorch's header <ATen/Device.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
