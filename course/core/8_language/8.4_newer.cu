// Task 8.4: kernels of newer transformers: RMSNorm, RoPE, SwiGLU, and attention of grouped queries.
#include <cfloat>

#include "core/language.h"
#include "core/launch.h"

namespace course::gpu {

constexpr int kThreads = 128;  // of a block
constexpr int kRow = 64;       // threads that share a row
constexpr int kKeys = 32;      // keys of a tile

__global__ void rms_norm_kernel(float* out, const float* x, const float* weight, int d) {
  // BEGIN SOLUTION 8.4 kernel
  __shared__ float squares[kRow];
  const int t = threadIdx.x;
  const long start = static_cast<long>(blockIdx.x) * d;
  float sum = 0;
  for (int e = t; e < d; e += kRow) sum += x[start + e] * x[start + e];
  squares[t] = sum;
  for (int half = kRow / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) squares[t] += squares[t + half];
  }
  __syncthreads();
  const float scale = 1 / sqrtf(squares[0] / d + kEpsilon);
  for (int e = t; e < d; e += kRow) out[start + e] = x[start + e] * scale * weight[e];
  // END SOLUTION 8.4
}

// A thread for each pair.
__global__ void rope_kernel(float* x, long pairs, int heads, int d, long first) {
  // BEGIN SOLUTION 8.4 kernel
  const long i = static_cast<long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= pairs) return;
  const int half = d / 2, e = i % half;
  const long head = i / half, place = first + head / heads;
  const double angle = place * pow(double{kBase}, -2.0 * e / d);  // a float has no place above 2^24
  const float c = static_cast<float>(cos(angle)), s = static_cast<float>(sin(angle));
  float *const left = x + head * d + e, *const right = left + half;
  const float a = *left, b = *right;
  *left = a * c - b * s;
  *right = a * s + b * c;
  // END SOLUTION 8.4
}

__global__ void swiglu_kernel(float* out, const float* x, long n, long columns) {
  // BEGIN SOLUTION 8.4 kernel
  const long i = static_cast<long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const long at = i / columns * 2 * columns + i % columns;
  const float gate = x[at];
  out[i] = gate / (1 + expf(-gate)) * x[at + columns];
  // END SOLUTION 8.4
}

// A block for each group: `shared` heads of q, and one of k and v.
__global__ void grouped_attention_kernel(float* out, const float* q, const float* k, const float* v,
                                         int shared, int groups, int n, int d) {
  // BEGIN SOLUTION 8.4 kernel
  __shared__ float queries[kMostShared * kLargestWidth], scores[kMostShared][kKeys];
  __shared__ float keys[kKeys][kLargestWidth + 1], values[kKeys][kLargestWidth];
  __shared__ float largest[kMostShared], total[kMostShared], factor[kMostShared];
  const int group = blockIdx.x, thread = threadIdx.x, numbers = shared * d;
  for (int i = thread; i < numbers; i += kThreads) queries[i] = q[group * numbers + i] / sqrtf(d);
  if (thread < shared) largest[thread] = -FLT_MAX, total[thread] = 0;
  float sums[kMostShared * kLargestWidth / kThreads] = {};
  for (int start = 0; start < n; start += kKeys) {
    const int count = n - start < kKeys ? n - start : kKeys;
    for (int i = thread; i < count * d; i += kThreads) {
      const long at = (static_cast<long>(start + i / d) * groups + group) * d + i % d;
      keys[i / d][i % d] = k[at];
      values[i / d][i % d] = v[at];
    }
    __syncthreads();
    for (int i = thread; i < shared * count; i += kThreads) {
      const int head = i / count, j = i % count;
      float score = 0;
      for (int e = 0; e < d; ++e) score += queries[head * d + e] * keys[j][e];
      scores[head][j] = score;
    }
    __syncthreads();
    if (thread < shared) {
      float higher = largest[thread];
      for (int j = 0; j < count; ++j) higher = fmaxf(higher, scores[thread][j]);
      factor[thread] = expf(largest[thread] - higher);  // of what was summed with the old maximum
      largest[thread] = higher;
      total[thread] *= factor[thread];
      for (int j = 0; j < count; ++j) {
        scores[thread][j] = expf(scores[thread][j] - higher);
        total[thread] += scores[thread][j];
      }
    }
    __syncthreads();
    for (int i = thread, s = 0; i < numbers; i += kThreads, ++s) {
      sums[s] *= factor[i / d];
      for (int j = 0; j < count; ++j) sums[s] += scores[i / d][j] * values[j][i % d];
    }
    __syncthreads();
  }
  for (int i = thread, s = 0; i < numbers; i += kThreads, ++s)
    out[group * numbers + i] = sums[s] / total[i / d];
  // END SOLUTION 8.4
}

void rms_norm(float* out, const float* x, const float* weight, long rows, int d) {
  // BEGIN SOLUTION 8.4
  launch(rms_norm_kernel, {static_cast<unsigned>(rows), kRow}, out, x, weight, d);
  // END SOLUTION 8.4
}

void rope(float* x, long rows, int heads, int d, long first) {
  // BEGIN SOLUTION 8.4
  const long pairs = rows * heads * (d / 2);
  launch(rope_kernel, {ceil_div(pairs, kThreads), kThreads}, x, pairs, heads, d, first);
  // END SOLUTION 8.4
}

void swiglu(float* out, const float* x, long rows, long columns) {
  // BEGIN SOLUTION 8.4
  const long n = rows * columns;
  launch(swiglu_kernel, {ceil_div(n, kThreads), kThreads}, out, x, n, columns);
  // END SOLUTION 8.4
}

void grouped_attention(float* out, const float* q, const float* k, const float* v, int heads,
                       int groups, int n, int d) {
  // BEGIN SOLUTION 8.4
  launch(grouped_attention_kernel, {static_cast<unsigned>(groups), kThreads}, out, q, k, v,
         heads / groups, groups, n, d);
  // END SOLUTION 8.4
}

}  // namespace course::gpu
