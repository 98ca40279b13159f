// How the elements of a normalisation belong together, for host and device.
#pragma once

#include <cstdint>
#include <limits>

#include "gradus/tensor/base/host_device.h"

namespace gradus {

// A contiguous tensor as rows of `length` neighbours. An element becomes
//
//   (x - mean) * rstd * weight + bias
//
// A row has its own mean and rstd = 1 / sqrt(variance + eps) (layer, group and instance norm), or
// those of all rows that are `groups` apart (batch norm, where a row is a channel of a sample).
// `inner` neighbours share a weight: row r has the weights from (r % groups) * weights() on.
//
// columns: each column has its own mean and rstd, those of all rows, and its own weight (batch norm
// with channels last). `shared` is set, too, and groups and inner are 1. samples: not 0 for group
// norm with channels last. The rows of one sample follow those of another one. A sample has
// `groups` groups of neighbouring columns, each with a mean and rstd.
struct NormalizedRows {
  int64_t rows = 0, length = 0, groups = 1, inner = 1;
  bool shared = false;   // mean and rstd are those of row % groups
  bool columns = false;  // mean and rstd are those of a column
  int64_t samples = 0;

  GRADUS_HD constexpr int64_t weights() const { return length / inner; }
  GRADUS_HD constexpr int64_t group(int64_t row) const { return row % groups; }
  GRADUS_HD constexpr int64_t statistic(int64_t row) const { return shared ? group(row) : row; }
  GRADUS_HD constexpr bool in_groups() const { return samples > 0; }
  constexpr int64_t statistics() const {
    return in_groups() ? samples * groups : columns ? length : shared ? groups : rows;
  }
  // How many elements have one mean.
  GRADUS_HD constexpr int64_t elements() const {
    if (in_groups()) return rows / samples * (length / groups);
    return columns ? rows : shared ? rows / groups * length : length;
  }
};

// Stands for eps where rstd is given, and not the variance.
inline constexpr double kNoEps = std::numeric_limits<double>::quiet_NaN();

// The bounds of a clamp. The gradient passes where the result lies between them. high: NaN where
// there is no upper bound.
template <class T>
struct Bounds {
  T low, high;

  GRADUS_HD constexpr T clamp(T y) const { return y < low ? low : y > high ? high : y; }
  GRADUS_HD constexpr bool passes(T result) const { return result > low && !(result >= high); }
};

// Operations after batch norm in the same passes over memory. A sum with an identity comes before a
// clamp. The bounds are relu's where none are given. silu: alone, after group norm with channels
// last.
struct AfterNorm {
  bool adds = false, clamps = false;
  Bounds<double> bounds = {0, std::numeric_limits<double>::quiet_NaN()};
  bool silu = false;

  static constexpr AfterNorm relu() { return {.clamps = true}; }
  // The backward pass reads the result: the mask of a sum is not known by x.
  constexpr bool clamps_a_sum() const { return adds && clamps; }
};

}  // namespace gradus
