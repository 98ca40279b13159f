// The arguments of every kernel of the matmul ladder.
#pragma once

#include <cstdint>

namespace gradus::cuda {

// One operand of a product, seen from the product: `outer` counts the rows of a or the columns of
// b, and `depth` the terms of the sums. So a and b, transposed or not, look alike to a kernel.
template <class T>
struct MatmulOperand {
  const T* data;
  int64_t batch, outer, depth;  // strides, in elements
  bool along_outer;             // neighbours in memory lie along outer, rather than along depth
  bool aligned;                 // reads of 16 bytes along that direction are aligned
};

// out (batches, m, n) = a (batches, m, k) * b (batches, k, n), + bias (n) where it is not null.
// The third dimension of the grid counts the batches.
template <class T, class Out = T>
struct MatmulArgs {
  MatmulOperand<T> a, b;
  const Out* bias;
  int64_t bias_stride;
  Out* out;
  int64_t m, n, k;
  // If not null, receives the sums of a's rows (m). Only kernels with sums_rows write it.
  Out* row_sums = nullptr;
};

}  // namespace gradus::cuda
