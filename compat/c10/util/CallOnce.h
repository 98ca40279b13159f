// c10::call_once and c10::once_flag, which are std's.
#pragma once

#include <mutex>

namespace gradus {
using std::call_once;
using std::once_flag;
}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
