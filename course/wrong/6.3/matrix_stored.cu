// LOSES: loads, stores
// All scores are stored to global memory, and loaded again.
#include <cfloat>

#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

constexpr int kQueries = 32, kKeys = 32;  // a block makes kQueries rows, one a thread, from tiles of kKeys keys

__device__ float all_scores[384][384];

__global__ void attention_kernel(float* out, const float* q, const float* k, const float* v, int n, int d,
                                 bool causal) {
  __shared__ float k_tile[kKeys][kLargestHead], v_tile[kKeys][kLargestHead], q_tile[kLargestHead][kQueries + 1];
  const int thread = threadIdx.x, first = blockIdx.x * kQueries, row = first + thread;
  for (int i = thread; i < kQueries * d; i += kQueries)
    q_tile[i % d][i / d] = first * d + i < n * d ? q[first * d + i] / sqrtf(static_cast<float>(d)) : 0;
  float sums[kLargestHead] = {}, maximum = -FLT_MAX, total = 0;
  // No row of this block sees the keys from `end` on.
  const int end = causal && first + kQueries < n ? first + kQueries : n;
  for (int start = 0; start < end; start += kKeys) {
    const int keys = end - start < kKeys ? end - start : kKeys;
    for (int i = thread; i < keys * d; i += kQueries) {
      k_tile[i / d][i % d] = k[start * d + i];
      v_tile[i / d][i % d] = v[start * d + i];
    }
    __syncthreads();
    const int seen = causal && row + 1 - start < keys ? row + 1 - start : keys;
    float higher = maximum;
    for (int j = 0; j < seen; ++j) {
      all_scores[row][start + j] = 0;
      for (int i = 0; i < d; ++i) all_scores[row][start + j] += q_tile[i][thread] * k_tile[j][i];
      higher = fmaxf(higher, all_scores[row][start + j]);
    }
    const float scale = expf(maximum - higher);  // of what was summed with the old maximum
    maximum = higher;
    total *= scale;
    for (int i = 0; i < d; ++i) sums[i] *= scale;
    for (int j = 0; j < seen; ++j) {
      const float weight = expf(all_scores[row][start + j] - maximum);
      total += weight;
      for (int i = 0; i < d; ++i) sums[i] += weight * v_tile[j][i];
    }
    __syncthreads();
  }
  if (row < n)
    for (int i = 0; i < d; ++i) out[row * d + i] = sums[i] / total;
}

void attention(float* out, const float* q, const float* k, const float* v, int n, int d, bool causal) {
  launch(attention_kernel, {dim3(ceil_div(n, kQueries)), dim3(kQueries)}, out, q, k, v, n, d, causal);
}

}  // namespace course::gpu
