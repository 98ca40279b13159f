// The sort that other operations use.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

inline constexpr int64_t kLongestRow = (int64_t{1} << 32) - 1;  // that can be sorted

// Backend::sort by the lowest `bits` bits of keys (tensor/math/sort_key.h): of int64 from 0 up to
// 2^bits - 1, these are all that differ.
// Errors: ValueError where x has more than kLongestRow elements along dim.
void sort(const Tensor& x, int64_t dim, bool descending, int bits, const Tensor& values,
          const Tensor& indices);

}  // namespace gradus::cuda
