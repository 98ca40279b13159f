// libtorch's header <ATen/CPUGeneratorImpl.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
