// c10::string_view, which is std's.
#pragma once

#include <string_view>

namespace gradus {
using std::string_view;
}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
