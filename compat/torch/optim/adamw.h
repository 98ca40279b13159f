#include "gradus/compat/torch/torch.h"
