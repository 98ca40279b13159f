// The version of libtorch whose names and behaviour this library follows. GRADUS_VERSION is its
// own.
#pragma once

#define TORCH_VERSION_MAJOR 1
#define TORCH_VERSION_MINOR 13
#define TORCH_VERSION_PATCH 1
#define TORCH_VERSION "1.13.1"

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
