// One number in another type, for host and device.
#pragma once

#include <type_traits>

#include "gradus/tensor/base/dtype.h"

namespace gradus {

// Converts as PyTorch does. A number that is not 0 becomes true. A floating point number becomes a
// narrow integer by way of int64, so that -1.0 is 255 in uint8. A number that does not fit int64
// gives no defined value.
template <class To, class From>
GRADUS_HD To convert(From x) {
  if constexpr (HalfType<From> && !std::is_same_v<To, From>)
    return convert<To>(static_cast<float>(x));
  else if constexpr (std::is_same_v<To, bool>)
    return x != From(0);
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return static_cast<To>(static_cast<int64_t>(x));
  else
    return static_cast<To>(x);
}

// Whether backends convert between the types at once: one of them is a type that is computed with,
// or bool. Other pairs go by way of such a type.
constexpr bool converts_at_once(ScalarType a, ScalarType b) {
  constexpr auto wide = [](ScalarType x) { return x == kBool || x == computed_type(x); };
  return a == b || wide(a) || wide(b);
}

}  // namespace gradus
