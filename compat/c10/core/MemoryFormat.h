#pragma once

#include "gradus/compat/torch/torch.h"
