// Task 7.2: each row is brought to mean 0 and variance 1, and the gradients of that.
#include "core/launch.h"
#include "core/transformer.h"

namespace course::gpu {

constexpr int kRow = 64, kColumns = 64;  // threads that share a row; threads that sum a column each

// Given: the sum of a number of each of the kRow threads of a block, for all of them; shared has
// kRow numbers.
__device__ float block_total(float* shared, float mine) {
  const int t = threadIdx.x;
  __syncthreads();
  shared[t] = mine;
  for (int half = kRow / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) shared[t] += shared[t + half];
  }
  __syncthreads();
  return shared[0];
}

__global__ void layer_norm_kernel(float* out, float* mean, float* rstd, const float* x,
                                  const float* weight, const float* bias, int d) {
  // BEGIN SOLUTION 7.2 kernel
  __shared__ float shared[kRow];
  const long row = blockIdx.x, start = row * d;
  float sum = 0, squares = 0;
  for (int e = threadIdx.x; e < d; e += kRow) sum += x[start + e];
  const float middle = block_total(shared, sum) / d;
  for (int e = threadIdx.x; e < d; e += kRow)
    squares += (x[start + e] - middle) * (x[start + e] - middle);
  const float scale = 1 / sqrtf(block_total(shared, squares) / d + kEpsilon);
  for (int e = threadIdx.x; e < d; e += kRow)
    out[start + e] = (x[start + e] - middle) * scale * weight[e] + bias[e];
  if (threadIdx.x == 0) mean[row] = middle, rstd[row] = scale;
  // END SOLUTION 7.2
}

__global__ void norm_rows_kernel(float* dx, const float* dout, const float* x, const float* weight,
                                 const float* mean, const float* rstd, int d) {
  // BEGIN SOLUTION 7.2 kernel
  __shared__ float shared[kRow];
  const long row = blockIdx.x, start = row * d;
  const float middle = mean[row], scale = rstd[row];
  float sum = 0, product = 0;
  for (int e = threadIdx.x; e < d; e += kRow) {
    const float slope = dout[start + e] * weight[e];
    sum += slope;
    product += slope * (x[start + e] - middle) * scale;
  }
  sum = block_total(shared, sum) / d;
  product = block_total(shared, product) / d;
  for (int e = threadIdx.x; e < d; e += kRow)
    dx[start + e] =
        scale * (dout[start + e] * weight[e] - sum - (x[start + e] - middle) * scale * product);
  // END SOLUTION 7.2
}

__global__ void norm_columns_kernel(float* dweight, float* dbias, const float* dout, const float* x,
                                    const float* mean, const float* rstd, long rows, int d) {
  // BEGIN SOLUTION 7.2 kernel
  const int e = blockIdx.x * kColumns + threadIdx.x;
  if (e >= d) return;
  float slope = 0, shift = 0;
  for (long row = 0; row < rows; ++row) {
    const float each = dout[row * d + e];
    slope += each * (x[row * d + e] - mean[row]) * rstd[row];
    shift += each;
  }
  dweight[e] = slope;
  dbias[e] = shift;
  // END SOLUTION 7.2
}

void layer_norm(float* out, float* mean, float* rstd, const float* x, const float* weight,
                const float* bias, long rows, int d) {
  // BEGIN SOLUTION 7.2
  launch(layer_norm_kernel, {static_cast<unsigned>(rows), kRow}, out, mean, rstd, x, weight, bias,
         d);
  // END SOLUTION 7.2
}

void layer_norm_backward(float* dx, float* dweight, float* dbias, const float* dout, const float* x,
                         const float* weight, const float* mean, const float* rstd, long rows,
                         int d) {
  // BEGIN SOLUTION 7.2
  launch(norm_rows_kernel, {static_cast<unsigned>(rows), kRow}, dx, dout, x, weight, mean, rstd, d);
  launch(norm_columns_kernel, {ceil_div(d, kColumns), kColumns}, dweight, dbias, dout, x, mean,
         rstd, rows, d);
  // END SOLUTION 7.2
}

}  // namespace course::gpu
