// Task 7.1: tokens become rows of numbers, and the gradients of both tables.
#include "core/launch.h"
#include "core/transformer.h"

namespace course::gpu {

constexpr int kThreads = 256;

__global__ void embedding_kernel(float* out, const float* table, const float* places,
                                 const int* ids, long rows, int length, int d) {
  // BEGIN SOLUTION 7.1 kernel
  const long i = blockIdx.x * long{kThreads} + threadIdx.x, row = i / d, e = i % d;
  if (row < rows) out[i] = table[ids[row] * long{d} + e] + places[row % length * d + e];
  // END SOLUTION 7.1
}

__global__ void embedding_backward_kernel(float* dtable, float* dplaces, const float* dout,
                                          const int* ids, long rows, int length, int vocabulary,
                                          int d) {
  // BEGIN SOLUTION 7.1 kernel
  const long i = blockIdx.x * long{kThreads} + threadIdx.x, line = i / d, e = i % d;
  float sum = 0;
  if (line < vocabulary) {
    for (long row = 0; row < rows; ++row)
      if (ids[row] == line) sum += dout[row * d + e];
    dtable[i] = sum;
  } else if (line < vocabulary + length) {
    for (long row = line - vocabulary; row < rows; row += length) sum += dout[row * d + e];
    dplaces[i - long{vocabulary} * d] = sum;
  }
  // END SOLUTION 7.1
}

void embedding(float* out, const float* table, const float* places, const int* ids, long rows,
               int length, int d) {
  // BEGIN SOLUTION 7.1
  launch(embedding_kernel, {ceil_div(rows * d, kThreads), kThreads}, out, table, places, ids, rows,
         length, d);
  // END SOLUTION 7.1
}

void embedding_backward(float* dtable, float* dplaces, const float* dout, const int* ids, long rows,
                        int length, int vocabulary, int d) {
  // BEGIN SOLUTION 7.1
  launch(embedding_backward_kernel, {ceil_div((long{vocabulary} + length) * d, kThreads), kThreads},
         dtable, dplaces, dout, ids, rows, length, vocabulary, d);
  // END SOLUTION 7.1
}

}  // namespace course::gpu
