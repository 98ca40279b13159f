// Module 0: how a tensor's elements lie in memory.
#pragma once

#include <optional>

#include "core/types.h"

namespace course {

// A way of seeing memory: the element at position p is
// data[offset + p[0] * strides[0] + p[1] * strides[1] + ...]. Several views may share memory. Strides are never below 0, as in PyTorch.
struct View {
  float* data = nullptr;
  long offset = 0;
  Dims sizes, strides;
};

// Task 0.1. The strides of a contiguous row-major tensor: the last dimension has stride 1.
// A dimension of size 0 counts as size 1 here, as in PyTorch.
Dims strides_of(const Dims& sizes);

// Task 0.2. The position of the element that is number n in row-major order, counted from 0.
// Errors: std::out_of_range where there is no such element: n < 0, or n >= the product of sizes.
Dims index_of(long n, const Dims& sizes);

// Task 0.3. The sizes to which tensors of sizes a and b broadcast. The last dimensions stand one below
// the other; the shorter list counts as having 1 in front.
// Errors: std::invalid_argument where two sizes differ and neither is 1.
Dims broadcast(const Dims& a, const Dims& b);

// Task 0.4. Views of the same memory, without a copy.
// Dimension i of the result is dimension order[i] of x.
// Errors: std::invalid_argument where order does not hold each dimension of x once.
View permute(const View& x, const Dims& order);
// The elements start ... start + length - 1 along dim.
// Errors: std::invalid_argument where x has no such dimension, and unless 0 <= start, 0 <= length and
// start + length <= the size. So length may be 0, and start may then be equal to the size.
View narrow(const View& x, long dim, long start, long length);
// Broadcasts x to sizes, none below 0: dimensions of size 1 are repeated (or become 0), and new dimensions come first.
// What repeats has stride 0. A dimension of size 1 may have any stride.
// Errors: std::invalid_argument where a size of x is neither 1 nor that of the result, or x has more dimensions.
View expand(const View& x, const Dims& sizes);

// Task 0.5. x with other sizes and the same elements in row-major order, as a view; empty where
// only a copy could have them. One size may be -1: it is found from the others.
// Errors: std::invalid_argument where the number of elements differs (that of x fits into a long, the product of sizes need not),
// a size is below -1, or -1 has not exactly one answer (two of them; or beside a 0).
std::optional<View> reshape(const View& x, const Dims& sizes);

}  // namespace course
