// Copies of an operand of the packed matrix product, in the order in which a micro-kernel reads it.
// A lane is a row of a or a column of b, and a panel as many lanes as the micro-kernel takes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gradus::cpu {

// Lanes that are transposed at once: as many elements as a vector of every processor has.
template <class T>
inline constexpr int64_t kBlock = 16 / sizeof(T);
// How many lanes, or rows of them, ahead memory is fetched. A lane is short, so the processor does
// not predict where the next one lies.
inline constexpr int64_t kLanesAhead = 8;

// to[l] = from[l] for a few l: a call of memcpy would take longer. The last vector reaches back
// over the one before.
template <class T>
void copy_few(const T* from, int64_t count, T* to) {
  typedef T Vector __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
  int64_t l = 0;
  for (; l + kBlock<T> <= count; l += kBlock<T>)
    *reinterpret_cast<Vector*>(to + l) = *reinterpret_cast<const Vector*>(from + l);
  if (l > 0 && l < count) {
    l = count - kBlock<T>;
    *reinterpret_cast<Vector*>(to + l) = *reinterpret_cast<const Vector*>(from + l);
  } else {
    for (; l < count; ++l) to[l] = from[l];
  }
}

// to[i][l] = from[l * lane_step + i] for l < kBlock.
template <class T>
void pack_block(const T* from, int64_t lane_step, int64_t depth, int64_t width, T* to) {
  typedef T Vector __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
  const auto get = [&](int64_t l, int64_t i) {
    return *reinterpret_cast<const Vector*>(from + l * lane_step + i);
  };
  const auto put = [&](int64_t i, Vector x) { *reinterpret_cast<Vector*>(to + i * width) = x; };
  constexpr int64_t kLine = 64 / sizeof(T);
  int64_t i = 0;
  for (; i + kBlock<T> <= depth; i += kBlock<T>) {
    if (i % kLine == 0)
      for (int64_t l = 0; l < kBlock<T>; ++l)
        __builtin_prefetch(from + (l + kLanesAhead) * lane_step + i);
    const Vector a = get(0, i), b = get(1, i);
    if constexpr (kBlock<T> == 4) {
      const Vector c = get(2, i), d = get(3, i);
      const Vector ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
      const Vector cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
      put(i, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
      put(i + 1, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
      const Vector ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      const Vector cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      put(i + 2, __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5));
      put(i + 3, __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7));
    } else {
      put(i, __builtin_shufflevector(a, b, 0, 2));
      put(i + 1, __builtin_shufflevector(a, b, 1, 3));
    }
  }
  for (; i < depth; ++i)
    for (int64_t l = 0; l < kBlock<T>; ++l) to[i * width + l] = from[l * lane_step + i];
}

// Steps of the depth that are packed at once for all lanes of a panel: they stay in the first-level
// cache until their lines are full.
inline constexpr int64_t kDepthAtOnce = 64;

// One panel: to[i][l] = from[l * lane_step + i * step] for l < lanes, 0 for the rest of `width`.
template <class T>
void pack_panel(const T* from, int64_t lane_step, int64_t lanes, int64_t step, int64_t depth,
                int64_t width, T* to) {
  if (lanes < width) std::fill_n(to, depth * width, T(0));
  int64_t first = 0;
  if (lane_step == 1) {
    for (int64_t i = 0; i < depth; ++i) copy_few(from + i * step, lanes, to + i * width);
    first = lanes;
  } else if (step == 1) {
    first = lanes / kBlock<T> * kBlock<T>;
    for (int64_t i = 0; i < depth; i += kDepthAtOnce)
      for (int64_t l = 0; l < first; l += kBlock<T>)
        pack_block(from + l * lane_step + i, lane_step, std::min(kDepthAtOnce, depth - i), width,
                   to + i * width + l);
  }
  for (int64_t i = 0; i < depth; ++i)
    for (int64_t l = first; l < lanes; ++l) to[i * width + l] = from[l * lane_step + i * step];
}

// Whole panels of lanes that lie side by side. kWidth: the width where the compiler is to know it,
// or 0. GCC makes better loops of it where it is a function of its own. The loops take a few rows
// of some panels at a time. Memory likes to be read along its rows, and a few rows fill whole lines
// of a panel. Panels are often a multiple of 4096 bytes apart, so that the first-level cache holds
// few of their lines at a time.
template <int64_t kWidth, class T>
__attribute__((noinline)) void pack_rows(const T* from, int64_t lanes, int64_t step, int64_t depth,
                                         int64_t width, T* to) {
  typedef T Vector __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
  constexpr int64_t kDown = 4;
  if constexpr (kWidth > 0) width = kWidth;
  const int64_t across = std::max<int64_t>(128 / width, 1) * width;
  for (int64_t left = 0; left < lanes; left += across)
    for (int64_t i = 0; i < depth; i += kDown)
      for (int64_t lane = left, end = std::min(left + across, lanes); lane < end; lane += width)
        for (int64_t row = i; row < std::min(i + kDown, depth); ++row) {
          const T* const at = from + row * step + lane;
          T* const out = to + lane * depth + row * width;
          for (int64_t l = 0; l < width; l += 64 / sizeof(T))
            __builtin_prefetch(at + kLanesAhead * step + l);
          if constexpr (kWidth == 0)
            copy_few(at, width, out);
          else
            for (int64_t l = 0; l < kWidth; l += kBlock<T>)
              *reinterpret_cast<Vector*>(out + l) = *reinterpret_cast<const Vector*>(at + l);
        }
}

// All panels of `width` lanes each, one after the other.
template <class T>
void pack(const T* from, int64_t lane_step, int64_t lanes, int64_t step, int64_t depth,
          int64_t width, T* to) {
  const int64_t whole = lane_step == 1 ? lanes / width * width : 0;
  // The widths of float for AVX-512: a known one takes half of the time in the caches.
  width == 12   ? pack_rows<12>(from, whole, step, depth, width, to)
  : width == 32 ? pack_rows<32>(from, whole, step, depth, width, to)
                : pack_rows<0>(from, whole, step, depth, width, to);
  for (int64_t lane = whole; lane < lanes; lane += width)
    pack_panel(from + lane * lane_step, lane_step, std::min(width, lanes - lane), step, depth,
               width, to + lane * depth);
}

}  // namespace gradus::cpu
