// Copies of a matrix whose columns lie in memory into one whose rows do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace gradus::cpu {

// Rows that are written at a time, so that a whole cache line of each column is read.
template <class T>
inline constexpr int64_t kBand = 64 / sizeof(T);

// Rows and columns of a tile.
inline constexpr int64_t kTile = 4;

// to[i * to_row + j] = from[j * from_column + i] for a tile.
template <class T>
void transpose_tile(T* to, int64_t to_row, const T* from, int64_t from_column) {
  typedef T Four __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));
  Four column[4];
  for (int j = 0; j < 4; ++j) column[j] = *reinterpret_cast<const Four*>(from + j * from_column);
  const Four a = __builtin_shufflevector(column[0], column[2], 0, 4, 1, 5);
  const Four b = __builtin_shufflevector(column[1], column[3], 0, 4, 1, 5);
  const Four c = __builtin_shufflevector(column[0], column[2], 2, 6, 3, 7);
  const Four d = __builtin_shufflevector(column[1], column[3], 2, 6, 3, 7);
  const Four row[4] = {
      __builtin_shufflevector(a, b, 0, 4, 1, 5), __builtin_shufflevector(a, b, 2, 6, 3, 7),
      __builtin_shufflevector(c, d, 0, 4, 1, 5), __builtin_shufflevector(c, d, 2, 6, 3, 7)};
  for (int i = 0; i < 4; ++i) *reinterpret_cast<Four*>(to + i * to_row) = row[i];
}

// The same for `rows`, at most kBand, times `columns`.
template <class T>
void transpose_band(int64_t rows, int64_t columns, T* to, int64_t to_row, const T* from,
                    int64_t from_column) {
  constexpr bool has_tiles = std::is_integral_v<T>;  // not the 16 bytes of a complex number
  const int64_t full_rows = has_tiles ? rows / kTile * kTile : 0;
  const int64_t full_columns = columns / kTile * kTile;
  if constexpr (has_tiles)
    for (int64_t j = 0; j < full_columns; j += kTile)
      for (int64_t i = 0; i < full_rows; i += kTile)
        transpose_tile(to + i * to_row + j, to_row, from + j * from_column + i, from_column);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i < full_rows ? full_columns : 0; j < columns; ++j)
      to[i * to_row + j] = from[j * from_column + i];
}

}  // namespace gradus::cpu
