// Task 7.4, another way: threads that go down a column by pointers, and load dout twice.
#include <algorithm>
#include <cmath>

#include "core/launch.h"
#include "core/transformer.h"

namespace course::gpu {

__global__ void forward(float* out, const float* x, const float* bias, long rows, long columns) {
  const long c = blockIdx.x * long(blockDim.x) + threadIdx.x;
  if (c < columns)
    for (long r = blockIdx.y; r < rows; r += gridDim.y) {
      const float u = x[r * columns + c] + bias[c];
      out[r * columns + c] = u * 0.5f + u * 0.5f * erff(u * 0.70710678f);
    }
}

__global__ void backward(float* dx, float* dbias, const float* dout, const float* x,
                         const float* bias, long rows, long columns) {
  const long c = blockIdx.x * long(blockDim.x) + threadIdx.x;
  if (!(c < columns)) return;
  const float b = bias[c];
  const float* end = x + rows * columns;
  float total = 0;
  dx += c;
  for (const float *size = x + c, *data = dout + c; size < end;
       size += columns, data += columns, dx += columns) {
    const float u = *size + b;
    const float bell = expf(-(u * u) * 0.5f) * 0.39894228f;
    *dx = *data * (0.5f + 0.5f * erff(u * 0.70710678f) + u * bell);
    total += *data * (0.5f + 0.5f * erff(u * 0.70710678f) + u * bell);
  }
  dbias[c] = total;
}

void bias_gelu(float* out, const float* x, const float* bias, long rows, long columns) {
  launch(forward, {dim3(ceil_div(columns, 32), std::min(rows, 100l)), 32}, out, x, bias, rows,
         columns);
}

void bias_gelu_backward(float* dx, float* dbias, const float* dout, const float* x,
                        const float* bias, long rows, long columns) {
  launch(backward, {ceil_div(columns, 64), 64}, dx, dbias, dout, x, bias, rows, columns);
}

}  // namespace course::gpu
