// Module 6, task 6.8: numbers of 16 bits. Pointers are to the memory of a device; a function queues its kernels.
#pragma once

#include <cuda_fp16.h>

#include "core/types.h"

namespace course::gpu {

// Task 6.8, in three parts.
// out[r] = x[r, 0] + ... + x[r, columns - 1], summed in float; x is (rows, columns), row-major. In one launch.
void sum_rows(float* out, const __half* x, int rows, int columns);

// c = a b by tensor cores, with sums in float; a is (m, k), b (k, n), c (m, n), all row-major. In one launch.
// REQUIRES: m, n and k are multiples of 16, and each matrix begins at a multiple of 256 bytes.
void matmul_halves(float* c, const __half* a, const __half* b, int m, int n, int k);

// The factor of a loss, by which all gradients grow, so that small ones have a place among the halves.
struct LossScale {
  float scale = 65536;  // gradients are so many times too large
  int good_steps = 0;   // since the scale was changed
  int interval = 2000;  // after so many good steps the scale doubles
  int found = 0;        // room for a step to note that a gradient is infinite or NaN; 0 between steps
};

// A step of gradient descent without a wait of the host: weights[i] -= rate * gradient[i] / scale, and copy[i] becomes the
// half nearest to weights[i]. Where any gradient is infinite or NaN, weights and copy stay as they are. Then loss, which the device
// has, goes on: after such a step scale is halved and good_steps is 0; after any other good_steps is one more, and where
// that comes to interval, scale is doubled and good_steps is 0. In at most three launches. REQUIRES: n > 0.
void scaled_step(float* weights, __half* copy, LossScale* loss, const __half* gradient, long n, float rate);

}  // namespace course::gpu
