// c10::optional and c10::nullopt, which are std's.
#pragma once

#include <optional>

namespace gradus {
using std::in_place;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
