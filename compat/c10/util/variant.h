// c10::variant, which is std's.
#pragma once

#include <variant>

namespace gradus {
using std::bad_variant_access;
using std::get_if;
using std::holds_alternative;
using std::monostate;
using std::variant;
using std::visit;
}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
