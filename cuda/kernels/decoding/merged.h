// The arguments of what a product of few rows does besides: it may normalise its row, and compute a
// function of its results.
#pragma once

#include <cstdint>

#include "gradus/cuda/runtime/fault.h"
#include "gradus/tensor/base/index_rule.h"

namespace gradus::cuda {

// A row that is normalised before it is multiplied, and stored. Types are those of the product.
struct NormalizedRowArgs {
  int length, lanes;  // lanes: of normalize_few_rows
  float eps;
  const void *x, *weight, *bias;
  float *mean, *rstd;
  void* out;
};

enum class RowsEpilogue : uint8_t { none, gelu, relu, silu, add, mul, put };

// The results are (m, n), and so are `operand` and `out`, of the results' type and contiguous.
struct RowsEpilogueArgs {
  RowsEpilogue what = RowsEpilogue::none;
  const void* operand = nullptr;  // of add and mul
  void* out = nullptr;
  // put: the columns from `first` on go to the place of `out` that *index says. Steps are those
  // of out.
  const int64_t* index = nullptr;
  IndexRule rule{};
  Fault* fault = nullptr;
  int64_t first = 0, count = 0, row_step = 0, place_step = 0;
};

}  // namespace gradus::cuda
