// Elements of lines to lanes and back, for one instruction set.
#include "gradus/cpu/simd/lane_loops.h"

#include "gradus/cpu/simd/shuffles.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

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
      for (int i = 0; i < N; ++i) a[i] = numbers(lines[q + i] + offset + j * W);
      transpose<T>(a);
#pragma GCC unroll 16
      for (int i = 0; i < N; ++i) numbers(parts[i % W] + (j + i / W) * lanes + q) = a[i];
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
      for (int i = 0; i < N; ++i) a[i] = numbers(parts[i % W] + (j + i / W) * lanes + q) * scale;
      transpose<T>(a);
#pragma GCC unroll 16
      for (int i = 0; i < N; ++i) numbers(lines[q + i] + offset + j * W) = a[i];
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
      for (int p = 0; p < W; ++p) a[p] = numbers(row + q * W + p * N);
      if constexpr (W == 2) separate(a[0], a[1], std::make_integer_sequence<int, N>());
      for (int p = 0; p < W; ++p) numbers(parts[p] + j * lanes + q) = a[p];
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
      for (int p = 0; p < W; ++p) a[p] = numbers(parts[p] + j * lanes + q) * scale;
      if constexpr (W == 2) interleave<N>(a[0], a[1], std::make_integer_sequence<int, N>());
      for (int p = 0; p < W; ++p) numbers(row + q * W + p * N) = a[p];
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
