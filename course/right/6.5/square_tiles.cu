// Task 6.5, another way: blocks of 16 x 16 threads, a tile of slopes in shared memory, and no
// scratch.
#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

constexpr int kSide = 16, kEach = kLargestHead / kSide;

struct Tile {
  float row[kSide][kLargestHead + 1];
  __device__ void load(const float* from, int start, int n, int d) {
    for (int e = threadIdx.x; e < d; e += kSide)
      row[threadIdx.y][e] = start + int(threadIdx.y) < n ? from[(start + threadIdx.y) * d + e] : 0;
  }
};

__device__ float dot(const Tile& a, int i, const Tile& b, int j, int d) {
  float sum = 0;
  for (int e = 0; e < d; ++e) sum = fmaf(a.row[i][e], b.row[j][e], sum);
  return sum;
}

// by_keys: the block has rows of k and v, else of q; it goes along tiles of the others.
__global__ void gradients(float* first, float* second, const float* dout, const float* out,
                          const float* lse, const float* q, const float* k, const float* v, int n,
                          int d, bool causal, bool by_keys) {
  __shared__ Tile queries, keys, values, slopes, results;
  __shared__ float weights[kSide][kSide + 1], scores[kSide][kSide + 1];
  const int x = threadIdx.x, y = threadIdx.y, own = blockIdx.x * kSide;
  const float root = 1 / sqrtf(float(d));
  __shared__ float totals[kSide];
  float a[kEach] = {}, b[kEach] = {};
  if (by_keys)
    keys.load(k, own, n, d), values.load(v, own, n, d);
  else
    queries.load(q, own, n, d), slopes.load(dout, own, n, d), results.load(out, own, n, d);
  const int begin = by_keys && causal ? own : 0;
  const int end = !by_keys && causal ? min(n, own + kSide) : n;
  for (int start = begin; start < end; start += kSide) {
    if (by_keys)
      queries.load(q, start, n, d), slopes.load(dout, start, n, d), results.load(out, start, n, d);
    else
      keys.load(k, start, n, d), values.load(v, start, n, d);
    const int rows = by_keys ? start : own;
    if (y == 0) totals[x] = rows + x < n ? lse[rows + x] : 0;
    __syncthreads();
    const int i = rows + y, j = (by_keys ? own : start) + x;
    float w = 0, s = 0;
    if (i < n && j < n && (!causal || j <= i)) {
      w = expf(dot(queries, y, keys, x, d) * root - totals[y]);
      s = w * root * (dot(slopes, y, values, x, d) - dot(slopes, y, results, y, d));
    }
    weights[y][x] = w;
    scores[y][x] = s;
    __syncthreads();
    for (int c = 0; c < kEach && x + c * kSide < d; ++c)
      for (int p = 0; p < kSide; ++p) {
        // A weight of 0 would make NaN of what is infinite in a row that is not seen.
        if (causal && (by_keys ? start + p < own + y : start + p > own + y)) continue;
        if (by_keys) {
          a[c] += scores[p][y] * queries.row[p][x + c * kSide];
          b[c] += weights[p][y] * slopes.row[p][x + c * kSide];
        } else {
          a[c] += scores[y][p] * keys.row[p][x + c * kSide];
        }
      }
    __syncthreads();
  }
  for (int c = 0; c < kEach; ++c) {
    const int e = x + c * kSide;
    if (own + y >= n || e >= d) break;
    first[(own + y) * d + e] = a[c];
    if (by_keys) second[(own + y) * d + e] = b[c];
  }
}

void attention_backward(float* dq, float* dk, float* dv, float*, const float* dout,
                        const float* out, const float* lse, const float* q, const float* k,
                        const float* v, int n, int d, bool causal) {
  const Grid grid{ceil_div(n, kSide), dim3(kSide, kSide)};
  launch(gradients, grid, dq, nullptr, dout, out, lse, q, k, v, n, d, causal, false);
  launch(gradients, grid, dk, dv, dout, out, lse, q, k, v, n, d, causal, true);
}

}  // namespace course::gpu
