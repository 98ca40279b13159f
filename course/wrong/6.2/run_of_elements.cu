// LOSES: sectors
// A thread takes a run of neighbouring elements, so neighbouring threads do not.
#include <cfloat>

#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

constexpr int kThreads = 128;  // of a block

// Of some elements of a row: the maximum, and the sum of exp(x - maximum).
struct Part {
  float maximum = -FLT_MAX, sum = 0;
};

// The part of all elements of two parts.
__device__ Part join(Part a, Part b) {
  const float maximum = fmaxf(a.maximum, b.maximum);
  return {maximum, a.sum * expf(a.maximum - maximum) + b.sum * expf(b.maximum - maximum)};
}

__global__ void softmax_rows_kernel(float* out, const float* x, int columns) {
  __shared__ Part parts[kThreads];
  const int thread = threadIdx.x, run = (columns + kThreads - 1) / kThreads;
  const long row = static_cast<long>(blockIdx.x) * columns;
  Part part;
  for (int i = thread * run; i < columns && i < thread * run + run; ++i) {
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
  for (int i = thread * run; i < columns && i < thread * run + run; ++i) out[row + i] = expf(x[row + i] - all.maximum) / all.sum;
}

void softmax_rows(float* out, const float* x, int rows, int columns) {
  launch(softmax_rows_kernel, {dim3(rows), dim3(kThreads)}, out, x, columns);
}

}  // namespace course::gpu
