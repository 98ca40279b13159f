// The epilogues of products of few rows: functions of the results, which the same kernel stores.
#pragma once

#include <cstdint>

#include "gradus/cuda/runtime/fault.h"
#include "gradus/tensor/base/index_rule.h"

namespace gradus::cuda {

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
