// Task 8.5: weights of one byte with a scale for each group, and their product with a vector.
#include "core/language.h"
#include "core/launch.h"

namespace course::gpu {

constexpr int kThreads = 256;
constexpr int kWarp = 32, kRows = kThreads / kWarp;  // a row for each warp of a block
constexpr int kTile = 1024;                          // numbers of x that a block holds

// A warp has a group.
__global__ void quantize_kernel(std::int8_t* q, float* scales, const float* w, long groups) {
  // BEGIN SOLUTION 8.5 kernel
  const long i = static_cast<long>(blockIdx.x) * kThreads + threadIdx.x, group = i / kGroup;
  if (group >= groups) return;
  const float value = w[i];
  float largest = fabsf(value);
  for (int step = kGroup / 2; step > 0; step /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
  const float scale = largest / 127;
  const float whole = scale > 0 ? roundf(value / scale) : 0;
  q[i] = static_cast<std::int8_t>(fminf(fmaxf(whole, -127), 127));
  if (i % kGroup == 0) scales[group] = scale;
  // END SOLUTION 8.5
}

__global__ void matvec_kernel(float* y, const std::int8_t* q, const float* scales, const float* x,
                              long rows, long columns) {
  // BEGIN SOLUTION 8.5 kernel
  __shared__ float tile[kTile];
  const int thread = threadIdx.x, lane = thread % kWarp;
  const long row = static_cast<long>(blockIdx.x) * kRows + thread / kWarp;
  float sum = 0;
  for (long start = 0; start < columns; start += kTile) {
    const int count = columns - start < kTile ? static_cast<int>(columns - start) : kTile;
    for (int i = thread; i < count; i += kThreads) tile[i] = x[start + i];
    __syncthreads();
    if (row < rows)
      for (int i = 4 * lane; i < count; i += 4 * kWarp) {
        const long at = row * columns + start + i;
        const char4 four = *reinterpret_cast<const char4*>(q + at);
        sum += scales[at / kGroup] * (four.x * tile[i] + four.y * tile[i + 1] +
                                      four.z * tile[i + 2] + four.w * tile[i + 3]);
      }
    __syncthreads();
  }
  for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (row < rows && lane == 0) y[row] = sum;
  // END SOLUTION 8.5
}

void quantize(std::int8_t* q, float* scales, const float* w, long rows, long columns) {
  // BEGIN SOLUTION 8.5
  const long n = rows * columns;
  launch(quantize_kernel, {ceil_div(n, kThreads), kThreads}, q, scales, w, n / kGroup);
  // END SOLUTION 8.5
}

void matvec_int8(float* y, const std::int8_t* q, const float* scales, const float* x, long rows,
                 long columns) {
  // BEGIN SOLUTION 8.5
  launch(matvec_kernel, {ceil_div(rows, kRows), kThreads}, y, q, scales, x, rows, columns);
  // END SOLUTION 8.5
}

}  // namespace course::gpu
