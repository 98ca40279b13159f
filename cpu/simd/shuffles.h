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

template <class T>
struct LaneVector {
  typedef T Type __attribute__((vector_size(GRADUS_VECTOR)));
};
template <class T>
using Numbers = typename LaneVector<T>::Type;

// A vector anywhere in memory. A typedef with the attribute `aligned` loses it where clang deduces
// a type.
template <class T>
struct __attribute__((packed, may_alias)) NumbersInMemory {
  Numbers<T> all;
};
template <class T>
inline NumbersInMemory<T>& numbers(T* at) {
  return *reinterpret_cast<NumbersInMemory<T>*>(at);
}
template <class T>
inline const NumbersInMemory<T>& numbers(const T* at) {
  return *reinterpret_cast<const NumbersInMemory<T>*>(at);
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

// Numbers in 16 bytes of a vector, within which shuffles are cheap.
template <class T>
inline constexpr int kSixteenBytes = 16 / sizeof(T);

// Exchanges every second B numbers of x with the B before them of y.
template <int B, class V, int... c>
inline void exchange(V& x, V& y, std::integer_sequence<int, c...>) {
  constexpr int N = sizeof...(c);
  const V first = __builtin_shufflevector(x, y, (c & B ? N + c - B : c)...);
  y = __builtin_shufflevector(x, y, (c & B ? N + c : c + B)...);
  x = first;
}

// A square of N vectors of N numbers: those of 16 bytes by perfect shuffles, then 16 bytes as one.
template <int B, class V, int N>
inline void exchange_blocks(V (&a)[N]) {
  if constexpr (B < N) {
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i)
      if (!(i & B)) exchange<B>(a[i], a[i + B], std::make_integer_sequence<int, N>());
    exchange_blocks<2 * B>(a);
  }
}
template <class T, class V, int N>
inline void transpose(V (&a)[N]) {
  constexpr int S = kSixteenBytes<T>;
  for (int round = 1; round < S; round *= 2) {
    V b[N];
#pragma GCC unroll 16
    for (int i = 0; i < N; i += S)
#pragma GCC unroll 2
      for (int k = 0; k < S / 2; ++k) {
        b[i + 2 * k] = a[i + k], b[i + 2 * k + 1] = a[i + k + S / 2];
        interleave<S>(b[i + 2 * k], b[i + 2 * k + 1], std::make_integer_sequence<int, N>());
      }
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) a[i] = b[i];
  }
  exchange_blocks<S>(a);
}

}  // namespace
}  // namespace GRADUS_SET
}  // namespace gradus::cpu
