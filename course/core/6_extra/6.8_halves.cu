// Task 6.8: numbers of 16 bits in memory, of 32 in sums, and products by tensor cores.
#include <mma.h>

#include "core/halves.h"
#include "core/launch.h"

namespace course::gpu {

namespace wmma = nvcuda::wmma;

constexpr int kThreads = 128;
constexpr int kSide = 16;  // of a fragment

// A warp for each row.
__global__ void sum_rows_kernel(float* out, const __half* x, int columns) {
  // BEGIN SOLUTION 6.8 kernel
  const __half* const row = x + static_cast<long>(blockIdx.x) * columns;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32) sum += __half2float(row[i]);
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
  // END SOLUTION 6.8
}

// A warp makes 2 by 2 fragments of c, or what is left of them at the edges.
__global__ void matmul_halves_kernel(float* c, const __half* a, const __half* b, int m, int n, int k) {
  // BEGIN SOLUTION 6.8 kernel
  const int top = blockIdx.y * 2 * kSide, left = blockIdx.x * 2 * kSide;
  const int down = top + kSide < m ? 2 : 1, across = left + kSide < n ? 2 : 1;
  wmma::fragment<wmma::matrix_a, kSide, kSide, kSide, __half, wmma::row_major> of_a[2];
  wmma::fragment<wmma::matrix_b, kSide, kSide, kSide, __half, wmma::row_major> of_b;
  wmma::fragment<wmma::accumulator, kSide, kSide, kSide, float> sums[2][2];
  for (int i = 0; i < down; ++i)
    for (int j = 0; j < across; ++j) wmma::fill_fragment(sums[i][j], 0.0f);
  for (int term = 0; term < k; term += kSide) {
    for (int i = 0; i < down; ++i)
      wmma::load_matrix_sync(of_a[i], a + static_cast<long>(top + i * kSide) * k + term, k);
    for (int j = 0; j < across; ++j) {
      wmma::load_matrix_sync(of_b, b + static_cast<long>(term) * n + left + j * kSide, n);
      for (int i = 0; i < down; ++i) wmma::mma_sync(sums[i][j], of_a[i], of_b, sums[i][j]);
    }
  }
  for (int i = 0; i < down; ++i)
    for (int j = 0; j < across; ++j)
      wmma::store_matrix_sync(c + static_cast<long>(top + i * kSide) * n + left + j * kSide, sums[i][j],
                              n, wmma::mem_row_major);
  // END SOLUTION 6.8
}

// Notes whether any gradient is infinite or NaN.
__global__ void find_kernel(LossScale* loss, const __half* gradient, long n) {
  // BEGIN SOLUTION 6.8 kernel
  const long i = static_cast<long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n && !isfinite(__half2float(gradient[i]))) atomicOr(&loss->found, 1);
  // END SOLUTION 6.8
}

__global__ void step_kernel(float* weights, __half* copy, const LossScale* loss, const __half* gradient, long n, float rate) {
  // BEGIN SOLUTION 6.8 kernel
  const long i = static_cast<long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n || loss->found) return;
  const float weight = weights[i] - rate * (__half2float(gradient[i]) / loss->scale);
  weights[i] = weight;
  copy[i] = __float2half(weight);
  // END SOLUTION 6.8
}

// One thread: what the next step will find.
__global__ void scale_kernel(LossScale* loss) {
  // BEGIN SOLUTION 6.8 kernel
  if (loss->found) {
    loss->scale /= 2;
    loss->good_steps = 0;
  } else if (++loss->good_steps == loss->interval) {
    loss->scale *= 2;
    loss->good_steps = 0;
  }
  loss->found = 0;
  // END SOLUTION 6.8
}

void sum_rows(float* out, const __half* x, int rows, int columns) {
  // BEGIN SOLUTION 6.8
  launch(sum_rows_kernel, {dim3(rows), 32}, out, x, columns);
  // END SOLUTION 6.8
}

void matmul_halves(float* c, const __half* a, const __half* b, int m, int n, int k) {
  // BEGIN SOLUTION 6.8
  const dim3 blocks(ceil_div(n, 2 * kSide), ceil_div(m, 2 * kSide));
  launch(matmul_halves_kernel, {blocks, 32}, c, a, b, m, n, k);
  // END SOLUTION 6.8
}

void scaled_step(float* weights, __half* copy, LossScale* loss, const __half* gradient, long n, float rate) {
  // BEGIN SOLUTION 6.8
  launch(find_kernel, {ceil_div(n, kThreads), kThreads}, loss, gradient, n);
  launch(step_kernel, {ceil_div(n, kThreads), kThreads}, weights, copy, loss, gradient, n, rate);
  launch(scale_kernel, {1, 1}, loss);
  // END SOLUTION 6.8
}

}  // namespace course::gpu
