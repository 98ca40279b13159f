// Task 7.3, another way: weights by the logarithm of their sum, and loops from the end.
#include <cmath>

#include "core/launch.h"
#include "core/transformer.h"

namespace course::gpu {

__global__ void rows(float* out, float* weights, const float* q, const float* k, const float* v,
                     int n, int d) {
  const int i = n - 1 - int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < 0) return;
  const size_t shift = size_t(blockIdx.y) * n * d,
               square = size_t(blockIdx.y) * n * n + size_t(i) * n;
  const float scale = 1 / sqrtf(static_cast<float>(d));
  float top = -3e38f;
  int j = n;
  while (--j > i) weights[square + j] = 0;
  for (; j >= 0; --j) {
    float s = 0;
    for (int e = d; e-- > 0;) s += q[shift + size_t(i) * d + e] * k[shift + size_t(j) * d + e];
    weights[square + j] = s * scale;
    top = s * scale > top ? s * scale : top;
  }
  float sum = 0;
  for (j = i; j >= 0; --j) sum += expf(weights[square + j] - top);
  const float lse = top + logf(sum);
  for (j = i; j >= 0; --j) weights[square + j] = expf(weights[square + j] - lse);
  for (int e = 0; e < d; ++e) {
    float o = 0;
    for (j = 0; j <= i; ++j) o += weights[square + j] * v[shift + size_t(j) * d + e];
    out[shift + size_t(i) * d + e] = o;
  }
}

__global__ void queries(float* dq, float* scratch, const float* dout, const float* weights,
                        const float* k, const float* v, int n, int d) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const size_t shift = size_t(blockIdx.y) * n * d,
               square = size_t(blockIdx.y) * n * n + size_t(i) * n;
  float mean = 0;
  for (int e = 0; e < d; ++e) dq[shift + size_t(i) * d + e] = 0;
  for (int j = 0; j <= i; ++j) {
    float slope = 0;
    for (int e = 0; e < d; ++e)
      slope += dout[shift + size_t(i) * d + e] * v[shift + size_t(j) * d + e];
    scratch[square + j] = slope;
    mean += slope * weights[square + j];
  }
  for (int j = 0; j <= i; ++j) {
    const float now = weights[square + j] * (scratch[square + j] - mean);
    scratch[square + j] = now;
    for (int e = 0; e < d; ++e)
      dq[shift + size_t(i) * d + e] += now * k[shift + size_t(j) * d + e] / sqrtf(d);
  }
}

__global__ void keys(float* dk, float* dv, const float* scratch, const float* dout,
                     const float* weights, const float* q, int n, int d) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, e = blockIdx.z;
  if (j >= n) return;
  const size_t shift = size_t(blockIdx.y) * n * d, square = size_t(blockIdx.y) * n * n;
  float a = 0, b = 0;
  for (int i = j; i < n; ++i) {
    a += scratch[square + size_t(i) * n + j] * (q[shift + size_t(i) * d + e] / sqrtf(d));
    b += weights[square + size_t(i) * n + j] * dout[shift + size_t(i) * d + e];
  }
  dk[shift + size_t(j) * d + e] = a;
  dv[shift + size_t(j) * d + e] = b;
}

void causal_attention(float* out, float* weights, const float* q, const float* k, const float* v,
                      int heads, int n, int d) {
  launch(rows, {dim3(ceil_div(n, 128), heads), 128}, out, weights, q, k, v, n, d);
}

void causal_attention_backward(float* dq, float* dk, float* dv, float* scratch, const float* dout,
                               const float* weights, const float* q, const float* k, const float* v,
                               int heads, int n, int d) {
  launch(queries, {dim3(ceil_div(n, 32), heads), 32}, dq, scratch, dout, weights, k, v, n, d);
  launch(keys, {dim3(ceil_div(n, 32), heads, d), 32}, dk, dv, scratch, dout, weights, q, n, d);
}

}  // namespace course::gpu
