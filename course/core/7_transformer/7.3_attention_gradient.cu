// Task 7.3: causal attention that keeps its weights, and its gradients.
#include <cfloat>

#include "core/launch.h"
#include "core/transformer.h"

namespace course::gpu {

constexpr int kThreads = 64;

// Head blockIdx.y, a thread for each row of q.
__global__ void attention_rows_kernel(float* out, float* weights, const float* q, const float* k,
                                      const float* v, int n, int d) {
  // BEGIN SOLUTION 7.3 kernel
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  const long head = blockIdx.y * long{n} * d;
  float* const w = weights + (blockIdx.y * long{n} + i) * n;
  float maximum = -FLT_MAX, total = 0;
  for (int j = 0; j < n; ++j) {
    float score = 0;
    if (j <= i)
      for (int e = 0; e < d; ++e) score += q[head + i * d + e] * k[head + j * d + e];
    w[j] = score / sqrtf(static_cast<float>(d));
    if (j <= i) maximum = fmaxf(maximum, w[j]);
  }
  for (int j = 0; j <= i; ++j) total += expf(w[j] - maximum);
  for (int j = 0; j <= i; ++j) w[j] = expf(w[j] - maximum) / total;
  for (int e = 0; e < d; ++e) {
    float sum = 0;
    for (int j = 0; j <= i; ++j) sum += w[j] * v[head + j * d + e];
    out[head + i * d + e] = sum;
  }
  // END SOLUTION 7.3
}

// The gradient of row i's scores goes to `slopes`, (heads, n, n), and from there to dq.
__global__ void attention_queries_kernel(float* dq, float* slopes, const float* dout,
                                         const float* weights, const float* k, const float* v,
                                         int n, int d) {
  // BEGIN SOLUTION 7.3 kernel
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  const long head = blockIdx.y * long{n} * d, line = (blockIdx.y * long{n} + i) * n;
  float mean = 0;
  for (int j = 0; j <= i; ++j) {
    float slope = 0;
    for (int e = 0; e < d; ++e) slope += dout[head + i * d + e] * v[head + j * d + e];
    slopes[line + j] = slope;
    mean += weights[line + j] * slope;
  }
  for (int j = 0; j <= i; ++j)
    slopes[line + j] = weights[line + j] * (slopes[line + j] - mean) / sqrtf(static_cast<float>(d));
  for (int e = 0; e < d; ++e) {
    float sum = 0;
    for (int j = 0; j <= i; ++j) sum += slopes[line + j] * k[head + j * d + e];
    dq[head + i * d + e] = sum;
  }
  // END SOLUTION 7.3
}

// A thread for each number of dk and of dv: row j is seen by the rows from j on.
__global__ void attention_keys_kernel(float* dk, float* dv, const float* slopes, const float* dout,
                                      const float* weights, const float* q, int n, int d) {
  // BEGIN SOLUTION 7.3 kernel
  const int at = blockIdx.x * kThreads + threadIdx.x, j = at / d, e = at % d;
  if (j >= n) return;
  const long head = blockIdx.y * long{n} * d, line = blockIdx.y * long{n} * n;
  float key = 0, value = 0;
  for (int i = j; i < n; ++i) {
    key += slopes[line + i * n + j] * q[head + i * d + e];
    value += weights[line + i * n + j] * dout[head + i * d + e];
  }
  dk[head + at] = key;
  dv[head + at] = value;
  // END SOLUTION 7.3
}

void causal_attention(float* out, float* weights, const float* q, const float* k, const float* v,
                      int heads, int n, int d) {
  // BEGIN SOLUTION 7.3
  const dim3 blocks(ceil_div(n, kThreads), static_cast<unsigned>(heads));
  launch(attention_rows_kernel, {blocks, kThreads}, out, weights, q, k, v, n, d);
  // END SOLUTION 7.3
}

void causal_attention_backward(float* dq, float* dk, float* dv, float* scratch, const float* dout,
                               const float* weights, const float* q, const float* k, const float* v,
                               int heads, int n, int d) {
  // BEGIN SOLUTION 7.3
  const auto height = static_cast<unsigned>(heads);
  launch(attention_queries_kernel, {dim3(ceil_div(n, kThreads), height), kThreads}, dq, scratch,
         dout, weights, k, v, n, d);
  launch(attention_keys_kernel, {dim3(ceil_div(long{n} * d, kThreads), height), kThreads}, dk, dv,
         scratch, dout, weights, q, n, d);
  // END SOLUTION 7.3
}

}  // namespace course::gpu
