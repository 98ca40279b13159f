// Task 6.6: a transposed copy and a histogram, by way of shared memory.
#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

constexpr int kSide = 32, kLines = 8;  // of a tile; lines that a block moves at once
constexpr int kThreads = 256, kMostBlocks = 16;

__global__ void transpose_kernel(float* out, const float* x, int rows, int columns) {
  // BEGIN SOLUTION 6.6 kernel
  __shared__ float tile[kSide][kSide + 1];  // a column of it lies in 32 banks
  const int left = blockIdx.x * kSide, top = blockIdx.y * kSide, lane = threadIdx.x;
  for (int i = threadIdx.y; i < kSide; i += kLines)
    if (top + i < rows && left + lane < columns)
      tile[i][lane] = x[static_cast<long>(top + i) * columns + left + lane];
  __syncthreads();
  for (int j = threadIdx.y; j < kSide; j += kLines)
    if (left + j < columns && top + lane < rows)
      out[static_cast<long>(left + j) * rows + top + lane] = tile[lane][j];
  // END SOLUTION 6.6
}

__global__ void clear_kernel(int* counts, int bins) {
  // BEGIN SOLUTION 6.6 kernel
  const int bin = blockIdx.x * kThreads + threadIdx.x;
  if (bin < bins) counts[bin] = 0;
  // END SOLUTION 6.6
}

// Each block counts for itself, and adds what it has counted.
__global__ void histogram_kernel(int* counts, const int* values, long n, int bins) {
  // BEGIN SOLUTION 6.6 kernel
  __shared__ int mine[kMostBins];
  for (int bin = threadIdx.x; bin < bins; bin += kThreads) mine[bin] = 0;
  __syncthreads();
  const long threads = static_cast<long>(gridDim.x) * kThreads;
  for (long i = static_cast<long>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += threads) {
    const int value = values[i];
    if (value >= 0 && value < bins) atomicAdd(&mine[value], 1);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < bins; bin += kThreads)
    if (mine[bin] > 0) atomicAdd(&counts[bin], mine[bin]);
  // END SOLUTION 6.6
}

void transpose(float* out, const float* x, int rows, int columns) {
  // BEGIN SOLUTION 6.6
  const dim3 blocks(ceil_div(columns, kSide), ceil_div(rows, kSide));
  launch(transpose_kernel, {blocks, dim3(kSide, kLines)}, out, x, rows, columns);
  // END SOLUTION 6.6
}

void histogram(int* counts, const int* values, long n, int bins) {
  // BEGIN SOLUTION 6.6
  launch(clear_kernel, {ceil_div(bins, kThreads), kThreads}, counts, bins);
  const unsigned parts = ceil_div(n, 4 * kThreads),
                 blocks = parts < kMostBlocks ? parts : kMostBlocks;
  launch(histogram_kernel, {blocks, kThreads}, counts, values, n, bins);
  // END SOLUTION 6.6
}

}  // namespace course::gpu
