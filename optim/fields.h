// The values of an options or state struct by name, listed once for reading and for writing.
#pragma once

#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gradus/tensor/tensor.h"

namespace gradus::optim {

// The shape of a tensor that is kept: that of its parameter, the elements of all parameters as one
// vector, or none.
enum class Extent : uint8_t { parameter, all, number };

struct Field {
  std::string_view name;
  std::variant<bool*, int64_t*, double*, std::optional<int64_t>*, std::optional<std::string>*,
               Tensor*, std::deque<Tensor>*>
      value;
  // The range of a double: NaN is never in it.
  double least = -std::numeric_limits<double>::infinity();
  std::optional<double> below{};
  Extent extent = Extent::parameter;
};
using Fields = std::vector<Field>;

}  // namespace gradus::optim
