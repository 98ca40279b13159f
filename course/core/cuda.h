// Module 3: kernels. Pointers are to any float in the memory of a device; a function queues its kernels
// there and does not wait for them. Results come first among the arguments. What is const stays as it is.
#pragma once

#include "core/types.h"

namespace course::gpu {

constexpr int kBlock = 256;  // the threads of a block in tasks 3.1 to 3.5

// Task 3.1. out[i] = op(x[i]) for 0 <= i < n, for example by a thread for each i. out may be x. n may be 0.
void map(Op1 op, float* out, const float* x, long n);

// Operands of tasks 3.2 and 3.3 are as on the CPU: they have the rank of out, and in each dimension the
// size of out, or size 1: then the one element there is used for every index, whatever its stride.
// Strides may be 0, not less. Only the elements of out are written. out may be an operand of the same layout.
// REQUIRES: different elements of out lie at different places; blocks >= 1.

// Task 3.2. out = op(x), element by element, by `blocks` blocks, however many elements there are: thread
// number t of all takes the elements t, t + threads, t + 2 threads, ... in row-major order.
void map_strided(Op1 op, float* out, const Layout& out_layout, const float* x, const Layout& x_layout, int blocks);

// Task 3.3. out = op(x, y), element by element, for example by a thread for each: two loads and a store.
void zip_strided(Op2 op, float* out, const Layout& out_layout, const float* x, const Layout& x_layout,
                 const float* y, const Layout& y_layout);

// Task 3.4. out[b] = the sum of x[b * kBlock] ... x[b * kBlock + kBlock - 1], as far as these are among
// the n elements of x: one number for each block of kBlock threads, by a tree in shared memory. n may be 0.
void block_sum(float* out, const float* x, long n);

// Task 3.5. out[r] = start op x[r * n] op x[r * n + 1] ... op x[r * n + n - 1] for 0 <= r < rows: folds
// each row of a row-major matrix, by up to kParts blocks a row (by kParts if n >= kParts * kBlock), in at
// most two launches, without atomics. The order of the operations depends on n alone, neither on the
// number of rows nor on time: so do the bits of the result. n may be 0, rows is at least 1.
// REQUIRES: op is add, mul or maximum, and start changes nothing: 0, 1 or -infinity. scratch has room
// for rows * kParts elements.
constexpr int kParts = 32;
void reduce(Op2 op, float start, float* out, const float* x, long rows, long n, float* scratch);

// Tasks 3.6 to 3.8. c = a b; a is (m, k), b (k, n), c (m, n). All are row-major in tasks 3.6 and 3.7.
// Task 3.6. By a thread for each element of c: neighbouring threads compute neighbours of a row.
void matmul_coalesced(float* c, const float* a, const float* b, int m, int n, int k);

// Task 3.7. By tiles in shared memory. Every element of a and b is loaded from global memory once for
// each tile of kTile columns or rows of c that needs it.
constexpr int kTile = 16;
void matmul_tiled(float* c, const float* a, const float* b, int m, int n, int k);

// Task 3.8. By tiles of kWide x kWide elements of c, each thread computing kOutputs x kOutputs of them
// in registers. c is row-major; a and b have any strides, so a transposed matrix needs no copy.
constexpr int kOutputs = 4, kWide = kTile * kOutputs;
void matmul_register(float* c, const Mat& a, const Mat& b, int m, int n, int k);

}  // namespace course::gpu
