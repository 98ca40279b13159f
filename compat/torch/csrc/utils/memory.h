// torch::make_unique, which is std's.
#pragma once

#include <memory>

namespace gradus {
using std::make_unique;
}

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
