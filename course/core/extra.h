// Module 6: kernels of networks, for extra points. Pointers are to the memory of a device; a function queues its kernels.
#pragma once

#include "core/types.h"

namespace course::gpu {

// Sizes of a convolution. The window of the weights is at most kLargestWindow wide and high.
constexpr int kLargestWindow = 7;
struct Conv {
  int channels = 1, height = 1, width = 1;       // of the input
  int outputs = 1, window_h = 1, window_w = 1;   // of the weights
  int padding = 0;                               // rows and columns of zeros around the input

  COURSE_HD int out_height() const { return height + 2 * padding - window_h + 1; }
  COURSE_HD int out_width() const { return width + 2 * padding - window_w + 1; }
};

// Task 6.1. The cross-correlation of x (channels, height, width) with weight
// (outputs, channels, window_h, window_w), all row-major; out is (outputs, out_height(), out_width()):
// out[o, i, j] = sum of x[c, i + di - padding, j + dj - padding] * weight[o, c, di, dj] over c, di, dj,
// where x is 0 outside of its bounds.
void conv2d(float* out, const float* x, const float* weight, Conv sizes);

// Task 6.2. out[r, i] = exp(x[r, i]) / (sum of exp(x[r, j]) over j), for each row r; x and out are
// (rows, columns), row-major. Elements may be -infinity, but not all of a row.
void softmax_rows(float* out, const float* x, int rows, int columns);

// Task 6.3. out = softmax(q k^T / sqrt(d)) v, the softmax along rows; all are (n, d), row-major.
// With causal, row i sees only the rows 0 ... i of k and v.
// REQUIRES: d <= kLargestHead.
constexpr int kLargestHead = 64;
void attention(float* out, const float* q, const float* k, const float* v, int n, int d, bool causal);

// Task 6.4. c = a b as fast as you can; a is (m, k), b (k, n), c (m, n), all row-major, and each begins at a
// multiple of 16 bytes.
void matmul(float* c, const float* a, const float* b, int m, int n, int k);

// Task 6.5. The gradients of task 6.3, from dout, and from what forward had and left: lse[i] is the log of
// the sum of exp(score[i, j]) over the rows j that row i sees. All but lse are (n, d). scratch has room for
// n numbers and holds nothing. Weights are computed anew, by tiles: no more is stored than dq, dk, dv and
// scratch. In at most three launches, without atomics. REQUIRES: d <= kLargestHead.
void attention_backward(float* dq, float* dk, float* dv, float* scratch, const float* dout, const float* out,
                        const float* lse, const float* q, const float* k, const float* v, int n, int d, bool causal);

// Task 6.6, in two parts.
// out[j, i] = x[i, j] for x (rows, columns), both row-major, in one launch.
void transpose(float* out, const float* x, int rows, int columns);
// counts[b] = how many of the n values are b, for 0 <= b < bins. Other values are not counted, and what counts held
// before is replaced. In at most two launches. REQUIRES: 0 < bins <= kMostBins.
constexpr int kMostBins = 1024;
void histogram(int* counts, const int* values, long n, int bins);

// Task 6.7. out[i] = x[0] + ... + x[i]: sums up to each of n numbers. In at most three launches. sums has room for
// ceil(n / kScanned) numbers and holds nothing: what a chunk of kScanned numbers sums to. out is not x.
constexpr int kScanned = 512;
void scan(float* out, float* sums, const float* x, long n);

}  // namespace course::gpu
