// Task 6.2: softmax of rows, with the maximum and the sum from one pass.
#include <cfloat>

#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

constexpr int kThreads = 128;  // of a block

// BEGIN SOLUTION 6.2 kernel
// Of some elements of a row: the maximum, and the sum of exp(x - maximum).
struct Part {
  float maximum = -FLT_MAX, sum = 0;
};

// The part of all elements of two parts.
__device__ Part join(Part a, Part b) {
  const float maximum = fmaxf(a.maximum, b.maximum);
  return {maximum, a.sum * expf(a.maximum - maximum) + b.sum * expf(b.maximum - maximum)};
}
// END SOLUTION 6.2

__global__ void softmax_rows_kernel(float* out, const float* x, int columns) {
  // BEGIN SOLUTION 6.2 kernel
  __shared__ Part parts[kThreads];
  const int thread = threadIdx.x;
  const long row = static_cast<long>(blockIdx.x) * columns;
  Part part;
  for (int i = thread; i < columns; i += kThreads) {
    const float value = x[row + i];
    part = value > part.maximum ? join(part, {value, 1}) : Part{part.maximum, part.sum + expf(value - part.maximum)};
  }
  parts[thread] = part;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) parts[thread] = join(parts[thread], parts[thread + half]);
  }
  __syncthreads();
  const Part all = parts[0];
  for (int i = thread; i < columns; i += kThreads) out[row + i] = expf(x[row + i] - all.maximum) / all.sum;
  // END SOLUTION 6.2
}

void softmax_rows(float* out, const float* x, int rows, int columns) {
  // BEGIN SOLUTION 6.2
  launch(softmax_rows_kernel, {dim3(rows), dim3(kThreads)}, out, x, columns);
  // END SOLUTION 6.2
}

}  // namespace course::gpu
