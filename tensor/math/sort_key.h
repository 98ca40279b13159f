// Elements as unsigned integers of the same order, for host and device: what a radix sort sorts.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gradus/tensor/base/host_device.h"

namespace gradus {

template <class T>
using SortKey = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
template <class T>
inline constexpr SortKey<T> kSignBit = SortKey<T>{1} << (8 * sizeof(T) - 1);

// -0 has the key of 0; NaN, of either sign, comes after every number.
template <class T>
GRADUS_HD SortKey<T> sort_key(T x, bool descending) {
  using Key = SortKey<T>;
  Key key;
  if constexpr (std::is_floating_point_v<T>) {
    // Larger magnitudes have larger bits; those of negative numbers are turned around.
    const Key bits = x == 0 ? 0 : __builtin_bit_cast(Key, x);
    key = x != x ? ~Key{0} : bits & kSignBit<T> ? ~bits : bits | kSignBit<T>;
  } else {
    key = static_cast<Key>(x) ^ kSignBit<T>;
  }
  return descending ? ~key : key;
}

// The element behind a key. `original()` says which of several: -0 or 0, or which NaN.
template <class T, class F>
GRADUS_HD T sorted_value(SortKey<T> key, bool descending, const F& original) {
  using Key = SortKey<T>;
  if (descending) key = ~key;
  if constexpr (std::is_floating_point_v<T>) {
    if (key == kSignBit<T> || key == ~Key{0}) return original();
    return __builtin_bit_cast(T, key & kSignBit<T> ? key ^ kSignBit<T> : ~key);
  } else {
    return static_cast<T>(key ^ kSignBit<T>);
  }
}

}  // namespace gradus
