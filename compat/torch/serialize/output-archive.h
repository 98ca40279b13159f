// libtorch's header <torch/serialize/output-archive.h>.
#pragma once

#include "gradus/compat/torch/torch.h"
