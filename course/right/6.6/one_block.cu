// Task 6.6, another way: a tile with shifted columns, and a histogram of one block in one launch.
#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

// Number (i, j) of the tile stands in column (i + j) % 32: so rows and columns are without
// conflicts.
__global__ void turn(float* out, const float* x, int rows, int columns) {
  __shared__ float tile[32 * 32];
  const int lane = threadIdx.x % 32, line = threadIdx.x / 32;
  const int i0 = 32 * blockIdx.y, j0 = 32 * blockIdx.x;
  for (int i = line; i < 32; i += 16)
    if (i0 + i < rows && j0 + lane < columns)
      tile[i * 32 + (i + lane) % 32] = x[(i0 + i) * columns + j0 + lane];
  __syncthreads();
  for (int j = line; j < 32; j += 16)
    if (j0 + j < columns && i0 + lane < rows)
      out[(j0 + j) * rows + i0 + lane] = tile[lane * 32 + (lane + j) % 32];
}

void transpose(float* out, const float* x, int rows, int columns) {
  launch(turn, {dim3(ceil_div(columns, 32), ceil_div(rows, 32)), dim3(512)}, out, x, rows, columns);
}

__global__ void count(int* counts, const int* values, long n, int bins) {
  extern __shared__ unsigned found[];
  for (unsigned bin = threadIdx.x; bin < unsigned(bins); bin += blockDim.x) found[bin] = 0;
  __syncthreads();
  for (const int* at = values + threadIdx.x; at < values + n; at += blockDim.x)
    if (unsigned(*at) < unsigned(bins)) atomicAdd(found + *at, 1u);
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < unsigned(bins); bin += blockDim.x)
    counts[bin] = static_cast<int>(found[bin]);
}

void histogram(int* counts, const int* values, long n, int bins) {
  launch(count, {dim3(1), dim3(1024), sizeof(unsigned) * static_cast<size_t>(bins)}, counts, values,
         n, bins);
}

}  // namespace course::gpu
