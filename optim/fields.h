// The values of an options or state struct by name, listed once for reading and for writing.
#pragma once

#include <limits>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "gradus/tensor/tensor.h"

namespace gradus::optim {

struct Field {
  std::string_view name;
  std::variant<bool*, int64_t*, double*, Tensor*> value;
  // The range of a double: NaN is never in it.
  double least = -std::numeric_limits<double>::infinity();
  std::optional<double> below{};
};
using Fields = std::vector<Field>;

}  // namespace gradus::optim
