// Elements of lines to lanes and back, for one instruction set.
#include "gradus/cpu/simd/lane_loops.h"

#include "gradus/cpu/simd/shuffles.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

// Squares first, then the lanes and the elements that are left.
template <class T, int W>
GRADUS_TARGET void load_lines_of(const T* const* lines, int64_t offset, int64_t lanes,
                                 int64_t count, T* const* parts) {
  constexpr int N = kNumbers<T>;
  int64_t q = 0;
  for (; q + N <= lanes; q += N) {
    int64_t j = 0;
    for (; j + N / W <= count; j += N / W) {
      Numbers<T> a[N];
#pragma GCC unroll 16
      for (int i = 0; i < N; ++i) a[i] = numbers(lines[q + i] + offset + j * W).all;
      transpose<T>(a);
#pragma GCC unroll 16
      for (int i = 0; i < N; ++i) numbers(parts[i % W] + (j + i / W) * lanes + q).all = a[i];
    }
    for (; j < count; ++j)
      for (int i = 0; i < N * W; ++i)
        parts[i % W][j * lanes + q + i / W] = lines[q + i / W][offset + j * W + i % W];
  }
  for (; q < lanes; ++q)
    for (int64_t j = 0; j < count; ++j)
      for (int p = 0; p < W; ++p) parts[p][j * lanes + q] = lines[q][offset + j * W + p];
}

template <class T, int W>
GRADUS_TARGET void store_lines_of(T* const* lines, int64_t offset, int64_t lanes, int64_t count,
                                  T scale, const T* const* parts) {
  constexpr int N = kNumbers<T>;
  int64_t q = 0;
  for (; q + N <= lanes; q += N) {
    int64_t j = 0;
    for (; j + N / W <= count; j += N / W) {
      Numbers<T> a[N];
#pragma GCC unroll 16
      for (int i = 0; i < N; ++i)
        a[i] = numbers(parts[i % W] + (j + i / W) * lanes + q).all * scale;
      transpose<T>(a);
#pragma GCC unroll 16
      for (int i = 0; i < N; ++i) numbers(lines[q + i] + offset + j * W).all = a[i];
    }
    for (; j < count; ++j)
      for (int i = 0; i < N * W; ++i)
        lines[q + i / W][offset + j * W + i % W] = parts[i % W][j * lanes + q + i / W] * scale;
  }
  for (; q < lanes; ++q)
    for (int64_t j = 0; j < count; ++j)
      for (int p = 0; p < W; ++p) lines[q][offset + j * W + p] = parts[p][j * lanes + q] * scale;
}

template <class T, int W>
GRADUS_TARGET void load_rows_of(const T* rows, int64_t step, int64_t neighbours, int64_t lanes,
                                int64_t count, T* const* parts) {
  constexpr int N = kNumbers<T>;
  for (int64_t j = 0; j < count; ++j) {
    const T* const row = rows + j * step;
    int64_t q = 0;
    for (; q + N <= neighbours; q += N) {
      Numbers<T> a[W];
      for (int p = 0; p < W; ++p) a[p] = numbers(row + q * W + p * N).all;
      if constexpr (W == 2) separate(a[0], a[1], std::make_integer_sequence<int, N>());
      for (int p = 0; p < W; ++p) numbers(parts[p] + j * lanes + q).all = a[p];
    }
    for (; q < neighbours; ++q)
      for (int p = 0; p < W; ++p) parts[p][j * lanes + q] = row[q * W + p];
  }
}

template <class T, int W>
GRADUS_TARGET void store_rows_of(T* rows, int64_t step, int64_t neighbours, int64_t lanes,
                                 int64_t count, T scale, const T* const* parts) {
  constexpr int N = kNumbers<T>;
  for (int64_t j = 0; j < count; ++j) {
    T* const row = rows + j * step;
    int64_t q = 0;
    for (; q + N <= neighbours; q += N) {
      Numbers<T> a[W];
      for (int p = 0; p < W; ++p) a[p] = numbers(parts[p] + j * lanes + q).all * scale;
      if constexpr (W == 2) interleave<N>(a[0], a[1], std::make_integer_sequence<int, N>());
      for (int p = 0; p < W; ++p) numbers(row + q * W + p * N).all = a[p];
    }
    for (; q < neighbours; ++q)
      for (int p = 0; p < W; ++p) row[q * W + p] = parts[p][j * lanes + q] * scale;
  }
}

template <class T>
void load_lines(int width, const T* const* lines, int64_t offset, int64_t lanes, int64_t count,
                T* const* parts) {
  (width == 1 ? load_lines_of<T, 1> : load_lines_of<T, 2>)(lines, offset, lanes, count, parts);
}
template <class T>
void store_lines(int width, T* const* lines, int64_t offset, int64_t lanes, int64_t count, T scale,
                 const T* const* parts) {
  (width == 1 ? store_lines_of<T, 1> : store_lines_of<T, 2>)(lines, offset, lanes, count, scale,
                                                             parts);
}
template <class T>
void load_rows(int width, const T* rows, int64_t step, int64_t neighbours, int64_t lanes,
               int64_t count, T* const* parts) {
  (width == 1 ? load_rows_of<T, 1> : load_rows_of<T, 2>)(rows, step, neighbours, lanes, count,
                                                         parts);
}
template <class T>
void store_rows(int width, T* rows, int64_t step, int64_t neighbours, int64_t lanes, int64_t count,
                T scale, const T* const* parts) {
  (width == 1 ? store_rows_of<T, 1> : store_rows_of<T, 2>)(rows, step, neighbours, lanes, count,
                                                           scale, parts);
}

}  // namespace
}  // namespace GRADUS_SET

template <class T>
const LaneLoops<T>& LaneLoops<T>::GRADUS_SET() {
  static constexpr LaneLoops loops = {
      cpu::GRADUS_SET::load_lines<T>, cpu::GRADUS_SET::store_lines<T>,
      cpu::GRADUS_SET::load_rows<T>, cpu::GRADUS_SET::store_rows<T>};
  return loops;
}
template const LaneLoops<float>& LaneLoops<float>::GRADUS_SET();
template const LaneLoops<double>& LaneLoops<double>::GRADUS_SET();

}  // namespace gradus::cpu
