// Vectors of numbers in memory, and exchanges between two of them, for one instruction set.
#pragma once

#include <utility>

#include "gradus/cpu/simd/set.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

// Numbers in a vector.
template <class T>
inline constexpr int kNumbers = GRADUS_VECTOR / sizeof(T);

// A vector, and one anywhere in memory.
template <class T>
struct LaneVector {
  typedef T Type __attribute__((vector_size(GRADUS_VECTOR)));
  typedef T InMemory __attribute__((vector_size(GRADUS_VECTOR), aligned(sizeof(T)), may_alias));
};
template <class T>
using Numbers = typename LaneVector<T>::Type;

template <class T>
inline auto& numbers(T* at) {
  return *reinterpret_cast<typename LaneVector<T>::InMemory*>(at);
}
template <class T>
inline const auto& numbers(const T* at) {
  return *reinterpret_cast<const typename LaneVector<T>::InMemory*>(at);
}

// Numbers of x and y in turn: of the lower half of each S of them, and of the upper half.
template <int S, class V, int... c>
inline void interleave(V& x, V& y, std::integer_sequence<int, c...>) {
  constexpr int N = sizeof...(c);
  const V low = __builtin_shufflevector(x, y, (c / S * S + c % S / 2 + c % 2 * N)...);
  y = __builtin_shufflevector(x, y, (c / S * S + c % S / 2 + c % 2 * N + S / 2)...);
  x = low;
}
// The even numbers of x and y, then the odd ones.
template <class V, int... c>
inline void separate(V& x, V& y, std::integer_sequence<int, c...>) {
  const V even = __builtin_shufflevector(x, y, (2 * c)...);
  y = __builtin_shufflevector(x, y, (2 * c + 1)...);
  x = even;
}

}  // namespace
}  // namespace GRADUS_SET
}  // namespace gradus::cpu
