// Module 6, task 6.9: what kernels ask of a chip, and what bounds them. Pointers are to the memory of a device; a function
// queues its kernels.
#pragma once

#include "core/types.h"

namespace course::gpu {

// --- Three kernels that are given: 6_extra/6.9_kernels.cu.
// y[i] += a * x[i].
void axpy(float* y, float a, const float* x, long n);
// out[r] is the sum of row r of x (rows, columns), row-major. Each thread adds up a row by itself.
void sum_rows_alone(float* out, const float* x, int rows, int columns);
// c = a b by tiles in shared memory of tile x tile numbers; a is (m, k), b (k, n), c (m, n), all row-major.
// REQUIRES: tile is 8, 16 or 32, and m, n and k are multiples of it.
void matmul_tiles(float* c, const float* a, const float* b, int m, int n, int k, int tile);

// What a kernel does.
struct Work {
  double operations = 0;  // additions and multiplications of floats, each for one
  double bytes = 0;       // of global memory that move: sectors of 32 bytes that its warps touch, loads and stores
};

// The most that a chip does in a second.
struct Chip {
  double operations = 0, bytes = 0;
};

// Task 6.9, in three parts.
// The work of the kernels above. Arrays begin at multiples of 256 bytes.
Work work_of_axpy(long n);
Work work_of_sum_rows(long rows, long columns);  // REQUIRES: columns >= 8
Work work_of_matmul(long m, long n, long k, long tile);

// The least time that work takes on a chip, which moves bytes and computes at the same time.
double least_seconds(Work work, Chip chip);
// Whether a chip that computes faster would not be done sooner, and one that moves bytes faster would.
bool bound_by_memory(Work work, Chip chip);
// The least tile, a multiple of 8, with which matmul_tiles() of large matrices (c counts for nothing) is not bound by memory.
long least_tile(Chip chip);

// Two kernels that move fewer bytes, each in one launch.
// y[i] += a * u[i] + b * v[i]: what axpy() does in two launches.
void axpy_two(float* y, float a, const float* u, float b, const float* v, long n);
// The same as sum_rows_alone(). REQUIRES: columns is a multiple of 8.
void sum_rows_together(float* out, const float* x, int rows, int columns);

}  // namespace course::gpu
