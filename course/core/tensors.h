// Module 0: how a tensor's elements lie in memory.
#pragma once

#include <optional>

#include "core/types.h"

namespace course {

// A way of seeing memory: the element at position p is
// data[offset + p[0] * strides[0] + p[1] * strides[1] + ...]. Several views may share memory.
struct View {
  float* data = nullptr;
  long offset = 0;
  Dims sizes, strides;
};

// Task 0.1. The strides of a contiguous row-major tensor: the last dimension has stride 1.
// A dimension of size 0 counts as size 1 here, as in PyTorch.
Dims strides_of(const Dims& sizes);

// Task 0.2. The position of the element that is number n in row-major order.
// REQUIRES: 0 <= n < product of sizes.
Dims index_of(long n, const Dims& sizes);

// Task 0.3. The sizes to which tensors of sizes a and b broadcast.
// Errors: std::invalid_argument where two sizes differ and neither is 1.
Dims broadcast(const Dims& a, const Dims& b);

// Task 0.4. Views of the same memory, without a copy.
// Dimension i of the result is dimension order[i] of x.
View permute(const View& x, const Dims& order);
// The elements start ... start + length - 1 along dim.
View narrow(const View& x, long dim, long start, long length);
// Broadcasts x to sizes: dimensions of size 1 are repeated, and new dimensions come first.
// Errors: std::invalid_argument where a size of x is neither 1 nor that of the result.
View expand(const View& x, const Dims& sizes);

// Task 0.5. x with other sizes and the same elements in row-major order, as a view; empty where
// only a copy could have them. One size may be -1: it is found from the others.
// Errors: std::invalid_argument where the number of elements differs, or -1 has no one answer.
std::optional<View> reshape(const View& x, const Dims& sizes);

}  // namespace course
