// For programs that take no more than tensors from this header: TorchScript itself is not here.
#pragma once

#include "gradus/compat/torch/torch.h"
