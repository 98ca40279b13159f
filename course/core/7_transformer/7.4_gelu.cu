// Task 7.4: bias and GELU in one kernel, and their gradients in one.
#include "core/launch.h"
#include "core/transformer.h"

namespace course::gpu {

constexpr int kThreads = 128;

__global__ void bias_gelu_kernel(float* out, const float* x, const float* bias, long n,
                                 long columns) {
  // BEGIN SOLUTION 7.4 kernel
  const long i = blockIdx.x * long{kThreads} + threadIdx.x;
  if (i >= n) return;
  const float u = x[i] + bias[i % columns];
  out[i] = u / 2 * (1 + erff(u * 0.70710678f));
  // END SOLUTION 7.4
}

__global__ void bias_gelu_backward_kernel(float* dx, float* dbias, const float* dout,
                                          const float* x, const float* bias, long rows,
                                          long columns) {
  // BEGIN SOLUTION 7.4 kernel
  const long column = blockIdx.x * long{kThreads} + threadIdx.x;
  if (column >= columns) return;
  const float shift = bias[column];
  float sum = 0;
  for (long i = column; i < rows * columns; i += columns) {
    const float u = x[i] + shift, normal = expf(-u * u / 2) * 0.39894228f;
    const float slope = dout[i] * ((1 + erff(u * 0.70710678f)) / 2 + u * normal);
    dx[i] = slope;
    sum += slope;
  }
  dbias[column] = sum;
  // END SOLUTION 7.4
}

void bias_gelu(float* out, const float* x, const float* bias, long rows, long columns) {
  // BEGIN SOLUTION 7.4
  launch(bias_gelu_kernel, {ceil_div(rows * columns, kThreads), kThreads}, out, x, bias,
         rows * columns, columns);
  // END SOLUTION 7.4
}

void bias_gelu_backward(float* dx, float* dbias, const float* dout, const float* x,
                        const float* bias, long rows, long columns) {
  // BEGIN SOLUTION 7.4
  launch(bias_gelu_backward_kernel, {ceil_div(columns, kThreads), kThreads}, dx, dbias, dout, x,
         bias, rows, columns);
  // END SOLUTION 7.4
}

}  // namespace course::gpu
