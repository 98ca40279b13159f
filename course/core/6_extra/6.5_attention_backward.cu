// Task 6.5: the gradients of attention by tiles, with weights that are computed anew.
#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

constexpr int kTileRows = 32;  // of a tile; a block has as many threads, each with a row

// The product of row i of dout and row i of out: what the slopes of a row's weights are on average.
__global__ void row_means_kernel(float* mean, const float* dout, const float* out, int n, int d) {
  // BEGIN SOLUTION 6.5 kernel
  const int i = blockIdx.x * kTileRows + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int e = 0; e < d; ++e) sum += dout[i * d + e] * out[i * d + e];
  mean[i] = sum;
  // END SOLUTION 6.5
}

// A thread has a row of queries and goes along the tiles of keys.
__global__ void queries_kernel(float* dq, const float* mean, const float* dout, const float* lse,
                               const float* q, const float* k, const float* v, int n, int d,
                               bool causal) {
  // BEGIN SOLUTION 6.5 kernel
  __shared__ float k_tile[kTileRows][kLargestHead], v_tile[kTileRows][kLargestHead];
  const int thread = threadIdx.x, first = blockIdx.x * kTileRows, i = first + thread;
  const float root = sqrtf(static_cast<float>(d));
  float query[kLargestHead], slope[kLargestHead], sums[kLargestHead] = {};
  const float log_total = i < n ? lse[i] : 0, average = i < n ? mean[i] : 0;
  for (int e = 0; e < d && i < n; ++e) query[e] = q[i * d + e] / root, slope[e] = dout[i * d + e];
  const int end = causal && first + kTileRows < n ? first + kTileRows : n;
  for (int start = 0; start < end; start += kTileRows) {
    const int count = end - start < kTileRows ? end - start : kTileRows;
    for (int at = thread; at < count * d; at += kTileRows) {
      k_tile[at / d][at % d] = k[start * d + at];
      v_tile[at / d][at % d] = v[start * d + at];
    }
    __syncthreads();
    const int seen = i >= n ? 0 : causal && i + 1 - start < count ? i + 1 - start : count;
    for (int j = 0; j < seen; ++j) {
      float score = 0, product = 0;
      for (int e = 0; e < d; ++e)
        score += query[e] * k_tile[j][e], product += slope[e] * v_tile[j][e];
      const float of_score = expf(score - log_total) * (product - average) / root;
      for (int e = 0; e < d; ++e) sums[e] += of_score * k_tile[j][e];
    }
    __syncthreads();
  }
  for (int e = 0; e < d && i < n; ++e) dq[i * d + e] = sums[e];
  // END SOLUTION 6.5
}

// A thread has a row of keys and values and goes along the tiles of queries.
__global__ void keys_kernel(float* dk, float* dv, const float* mean, const float* dout,
                            const float* lse, const float* q, const float* k, const float* v, int n,
                            int d, bool causal) {
  // BEGIN SOLUTION 6.5 kernel
  __shared__ float q_tile[kTileRows][kLargestHead], slopes[kTileRows][kLargestHead];
  __shared__ float log_totals[kTileRows], averages[kTileRows];
  const int thread = threadIdx.x, first = blockIdx.x * kTileRows, j = first + thread;
  const float root = sqrtf(static_cast<float>(d));
  float key[kLargestHead], value[kLargestHead];
  float key_sums[kLargestHead] = {}, value_sums[kLargestHead] = {};
  for (int e = 0; e < d && j < n; ++e) key[e] = k[j * d + e] / root, value[e] = v[j * d + e];
  // With causal no row before the block's own sees its keys.
  for (int start = causal ? first : 0; start < n; start += kTileRows) {
    const int count = n - start < kTileRows ? n - start : kTileRows;
    for (int at = thread; at < count * d; at += kTileRows) {
      q_tile[at / d][at % d] = q[start * d + at];
      slopes[at / d][at % d] = dout[start * d + at];
    }
    if (thread < count)
      log_totals[thread] = lse[start + thread], averages[thread] = mean[start + thread];
    __syncthreads();
    for (int i = causal && j > start ? j - start : 0; i < count && j < n; ++i) {
      float score = 0, product = 0;
      for (int e = 0; e < d; ++e)
        score += q_tile[i][e] * key[e], product += slopes[i][e] * value[e];
      const float weight = expf(score - log_totals[i]);
      const float of_score = weight * (product - averages[i]) / root;
      for (int e = 0; e < d; ++e) {
        key_sums[e] += of_score * q_tile[i][e];
        value_sums[e] += weight * slopes[i][e];
      }
    }
    __syncthreads();
  }
  for (int e = 0; e < d && j < n; ++e) dk[j * d + e] = key_sums[e], dv[j * d + e] = value_sums[e];
  // END SOLUTION 6.5
}

void attention_backward(float* dq, float* dk, float* dv, float* scratch, const float* dout,
                        const float* out, const float* lse, const float* q, const float* k,
                        const float* v, int n, int d, bool causal) {
  // BEGIN SOLUTION 6.5
  const Grid grid{ceil_div(n, kTileRows), kTileRows};
  launch(row_means_kernel, grid, scratch, dout, out, n, d);
  launch(queries_kernel, grid, dq, scratch, dout, lse, q, k, v, n, d, causal);
  launch(keys_kernel, grid, dk, dv, scratch, dout, lse, q, k, v, n, d, causal);
  // END SOLUTION 6.5
}

}  // namespace course::gpu
