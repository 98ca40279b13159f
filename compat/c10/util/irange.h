// c10::irange(n) and c10::irange(begin, end): the integers of a loop.
#pragma once

#include <algorithm>
#include <concepts>
#include <ranges>

namespace gradus {

// Counts from 0, below end; none where end is negative.
template <std::integral T>
constexpr auto irange(T end) {
  return std::views::iota(T{}, std::max(end, T{}));
}
// Counts from begin, below end.
template <std::integral T, std::integral U>
constexpr auto irange(T begin, U end) {
  return std::views::iota(static_cast<U>(begin), std::max(end, static_cast<U>(begin)));
}

}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
