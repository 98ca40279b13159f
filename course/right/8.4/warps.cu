// Task 8.4, another way: sums by shuffles of a warp, and a warp for each head of a group.
#include <cmath>

#include "core/language.h"
#include "core/launch.h"

namespace course::gpu {

constexpr unsigned kAll = 0xffffffffu;

__device__ float warp_sum(float mine) {
  for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(kAll, mine, step);
  return mine;
}

__global__ void norm(float* out, const float* x, const float* weight, int d) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * d;
  float sum = 0;
  for (int e = threadIdx.x; e < d; e += 32) sum = fmaf(row[e], row[e], sum);
  const float factor = rsqrtf(warp_sum(sum) / d + kEpsilon);
  for (int e = threadIdx.x; e < d; e += 32)
    out[static_cast<size_t>(blockIdx.x) * d + e] = row[e] * factor * weight[e];
}

void rms_norm(float* out, const float* x, const float* weight, long rows, int d) {
  launch(norm, {dim3(static_cast<unsigned>(rows)), dim3(32)}, out, x, weight, d);
}

// A block for each row.
__global__ void turn(float* x, int heads, int d, long first) {
  float* row = x + static_cast<size_t>(blockIdx.x) * heads * d;
  const double place = static_cast<double>(first + blockIdx.x);
  for (int i = threadIdx.x; i < heads * d; i += blockDim.x) {
    const int e = i % d;
    if (e >= d / 2) continue;
    const double angle = place * exp(-2.0 * e / d * log(10000.0));
    const float re = row[i], im = row[i + d / 2];
    row[i] = static_cast<float>(re * cos(angle) - im * sin(angle));
    row[i + d / 2] = static_cast<float>(re * sin(angle) + im * cos(angle));
  }
}

void rope(float* x, long rows, int heads, int d, long first) {
  launch(turn, {dim3(static_cast<unsigned>(rows)), dim3(64)}, x, heads, d, first);
}

__global__ void gate(float* out, const float* x, long rows, long columns) {
  for (long i = blockIdx.x * 256L + threadIdx.x; i < rows * columns; i += gridDim.x * 256L) {
    const long r = i / columns, c = i - r * columns;
    const float u = x[2 * r * columns + c];
    out[i] = u * x[(2 * r + 1) * columns + c] / (1.0f + expf(-u));
  }
}

void swiglu(float* out, const float* x, long rows, long columns) {
  launch(gate, {dim3(8), dim3(256)}, out, x, rows, columns);
}

// Thread (lane, head): lanes have the keys of a tile, then the columns of its values.
__global__ void attend_group(float* out, const float* q, const float* k, const float* v, int n,
                             int d) {
  extern __shared__ float tile[];  // 32 rows of d keys, then of d values
  const int lane = threadIdx.x, head = threadIdx.y, shared = blockDim.y, groups = gridDim.x;
  const int all = 32 * shared, me = head * 32 + lane;
  const float* query = q + (static_cast<size_t>(blockIdx.x) * shared + head) * d;
  float mine[2] = {}, sums[2] = {}, most = -INFINITY, total = 0;
  for (int c = 0; c < 2; ++c)
    if (lane + 32 * c < d) mine[c] = query[lane + 32 * c] * rsqrtf(static_cast<float>(d));
  for (int start = 0; start < n; start += 32) {
    __syncthreads();
    for (int i = me; i < 32 * d; i += all) {
      const int j = start + i / d;
      if (j >= n) break;
      const size_t at = (static_cast<size_t>(j) * groups + blockIdx.x) * d + i % d;
      tile[i] = k[at];
      tile[32 * d + i] = v[at];
    }
    __syncthreads();
    float score = 0;
    for (int e = 0; e < d; ++e) {
      const float of_query = __shfl_sync(kAll, mine[e / 32], e % 32);
      if (start + lane < n) score += of_query * tile[lane * d + e];
    }
    if (start + lane >= n) score = -INFINITY;
    float higher = fmaxf(most, score);
    for (int step = 16; step > 0; step /= 2)
      higher = fmaxf(higher, __shfl_xor_sync(kAll, higher, step));
    const float old = expf(most - higher), weight = expf(score - higher);
    most = higher;
    total = total * old + warp_sum(weight);
    sums[0] *= old, sums[1] *= old;
    for (int j = 0; j < 32 && start + j < n; ++j) {
      const float w = __shfl_sync(kAll, weight, j);
      for (int c = 0; c < 2; ++c)
        if (lane + 32 * c < d) sums[c] += w * tile[(32 + j) * d + lane + 32 * c];
    }
  }
  for (int c = 0; c < 2; ++c)
    if (lane + 32 * c < d)
      out[(static_cast<size_t>(blockIdx.x) * shared + head) * d + lane + 32 * c] = sums[c] / total;
}

void grouped_attention(float* out, const float* q, const float* k, const float* v, int heads,
                       int groups, int n, int d) {
  launch(attend_group,
         {dim3(static_cast<unsigned>(groups)), dim3(32, static_cast<unsigned>(heads / groups)),
          64 * sizeof(float) * static_cast<size_t>(d)},
         out, q, k, v, n, d);
}

}  // namespace course::gpu
