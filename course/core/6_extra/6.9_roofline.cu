// Task 6.9: operations and bytes of three kernels, what bounds them on a chip, and two changes that move fewer bytes.
#include <algorithm>

#include "core/launch.h"
#include "core/roofline.h"

namespace course::gpu {

constexpr int kThreads = 128;  // of a block
constexpr int kSector = 32;    // bytes

// BEGIN SOLUTION 6.9 kernel
// The bytes of the sectors that n floats side by side lie in.
double bytes_of(long n) { return static_cast<double>((n + 7) / 8 * kSector); }
// END SOLUTION 6.9

Work work_of_axpy(long n) {
  // BEGIN SOLUTION 6.9
  return {2.0 * n, 3 * bytes_of(n)};
  // END SOLUTION 6.9
}

Work work_of_sum_rows(long rows, long columns) {
  // BEGIN SOLUTION 6.9
  const double numbers = static_cast<double>(rows) * columns;
  return {numbers, kSector * numbers + bytes_of(rows)};
  // END SOLUTION 6.9
}

Work work_of_matmul(long m, long n, long k, long tile) {
  // BEGIN SOLUTION 6.9
  const double outputs = static_cast<double>(m) * n;
  return {2 * outputs * k, 4 * (2 * outputs * k / tile + outputs)};
  // END SOLUTION 6.9
}

double least_seconds(Work work, Chip chip) {
  // BEGIN SOLUTION 6.9
  return std::max(work.operations / chip.operations, work.bytes / chip.bytes);
  // END SOLUTION 6.9
}

bool bound_by_memory(Work work, Chip chip) {
  // BEGIN SOLUTION 6.9
  return work.bytes / chip.bytes > work.operations / chip.operations;
  // END SOLUTION 6.9
}

long least_tile(Chip chip) {
  // BEGIN SOLUTION 6.9
  long tile = 8;  // has tile / 4 operations for each byte
  while (tile / 4.0 < chip.operations / chip.bytes) tile += 8;
  return tile;
  // END SOLUTION 6.9
}

__global__ void axpy_two_kernel(float* y, float a, const float* u, float b, const float* v, long n) {
  // BEGIN SOLUTION 6.9 kernel
  const long i = static_cast<long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) y[i] += a * u[i] + b * v[i];
  // END SOLUTION 6.9
}

__global__ void sum_rows_together_kernel(float* out, const float* x, int rows, int columns) {
  // BEGIN SOLUTION 6.9 kernel
  const int row = blockIdx.x * (kThreads / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = lane; i < columns; i += 32) sum += x[static_cast<long>(row) * columns + i];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (lane == 0) out[row] = sum;
  // END SOLUTION 6.9
}

void axpy_two(float* y, float a, const float* u, float b, const float* v, long n) {
  // BEGIN SOLUTION 6.9
  launch(axpy_two_kernel, {ceil_div(n, kThreads), kThreads}, y, a, u, b, v, n);
  // END SOLUTION 6.9
}

void sum_rows_together(float* out, const float* x, int rows, int columns) {
  // BEGIN SOLUTION 6.9
  launch(sum_rows_together_kernel, {ceil_div(rows, kThreads / 32), kThreads}, out, x, rows, columns);
  // END SOLUTION 6.9
}

}  // namespace course::gpu
