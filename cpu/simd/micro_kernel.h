// The innermost kernels of the packed matrix product: one tile of the result, held in registers.
#pragma once

#include <cstdint>

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// multiply: out[r * out_row + c] = added[r * added_row + c] + sum over i < k of a[i][r] * b[i][c],
// for the first `rows` rows (a multiple of step) of the `rows` x `columns` of a tile, a and b
// row-major; the sum alone where added is null, and added may be out. The terms of a sum and their
// order depend on k alone. T is float, double or int64_t.
template <class T>
struct MicroKernel {
  int64_t rows, step, columns;  // rows is a multiple of step
  void (*multiply)(int64_t rows, int64_t k, const T* a, const T* b, T* out, int64_t out_row,
                   const T* added, int64_t added_row);
  // The same for a[r * a_row + i * a_column] and b[i * b_row + c], with nothing added.
  void (*multiply_in_place)(int64_t rows, int64_t k, const T* a, int64_t a_row, int64_t a_column,
                            const T* b, int64_t b_row, T* out, int64_t out_row);
  // The same sums, straight from b: for at most kMostFewRows rows and at least `columns` columns.
  // REQUIRES: b_row or b_column is 1.
  void (*multiply_few)(int64_t rows, int64_t columns, int64_t k, const T* a, int64_t a_row,
                       const T* b, int64_t b_row, int64_t b_column, T* out, int64_t out_row,
                       const T* added, int64_t added_row);

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const MicroKernel& name();
#include <gradus_sets.def>
};

// Rows that do not pay for a copy of b.
inline constexpr int64_t kMostFewRows = 4;
// Most elements that a tile has.
inline constexpr int64_t kMaxTile = 1024;

}  // namespace gradus::cpu
