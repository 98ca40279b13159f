// A kernel beside the ladder, for few rows and a large b: b is read once, at the speed of memory.
//
// Idea. The product of a transposed, narrow matrix, as the gradient of a weight with few outputs
// is. A thread has four columns of b and all rows of a. It reads kAhead terms of its columns into
// registers at a time, and a warp reads 512 bytes of a row of b. Some terms of a lie in shared
// memory, from which all threads read the same ones.
// Cost. A load of 16 bytes of b and kRows / 4 broadcasts for kRows * 4 multiply-adds.
#pragma once

#include "gradus/cuda/kernels/matmul/tile.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

template <int rows>
struct FlatShape {
  static constexpr int kThreads = 128, kResident = 5, kAhead = 4;
  static constexpr int kRows = rows, kCols = 4 * kThreads;
  static constexpr int kStep = 64;  // terms of a that are in shared memory
};

// REQUIRES: m <= S::kRows, and n is a multiple of 4; the columns of b lie along memory, and its
// rows are aligned.
template <class S>
__global__ void __launch_bounds__(S::kThreads, S::kResident)
    matmul_flat(const MatmulArgs<float> args) {
  wait_for_earlier_kernels();
  alignas(16) __shared__ float tile[S::kStep][S::kRows];
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t column = int64_t{blockIdx.x} * S::kCols + 4 * thread;
  // A thread past the edge reads the last columns and stores nothing.
  const float* b = terms(args.b, ::min(column, args.n - 4));
  const float* const a = terms(args.a, 0);

  float sums[S::kRows][4] = {};
  const auto add = [&](const Vector<float, 4>& x, int term) {
#pragma unroll
    for (int r = 0; r < S::kRows; r += 4) {
      const Vector<float, 4> y = load_vector<4>(&tile[term][r]);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int v = 0; v < 4; ++v) sums[r + i][v] += y.at[i] * x.at[v];
    }
  };
  for (int64_t k = 0; k < args.k; k += S::kStep) {
    const int count = static_cast<int>(::min(int64_t{S::kStep}, args.k - k));
    __syncthreads();
    for (int i = thread; i < S::kStep * S::kRows; i += S::kThreads) {
      const int term = i / S::kRows, row = i % S::kRows;
      const bool inside = term < count && row < args.m;
      tile[term][row] = inside ? a[row * args.a.outer + (k + term) * args.a.depth] : 0.f;
    }
    __syncthreads();
    int term = 0;
    for (; term + S::kAhead <= count; term += S::kAhead) {
      Vector<float, 4> x[S::kAhead];
#pragma unroll
      for (int i = 0; i < S::kAhead; ++i) x[i] = load_vector<4>(b + i * args.b.depth);
      b += S::kAhead * args.b.depth;
#pragma unroll
      for (int i = 0; i < S::kAhead; ++i) add(x[i], term + i);
    }
    for (; term < count; ++term, b += args.b.depth) add(load_vector<4>(b), term);
  }
#pragma unroll
  for (int r = 0; r < S::kRows; ++r)
#pragma unroll
    for (int v = 0; v < 4; ++v) store(args, r, column + v, sums[r][v]);
}

}  // namespace gradus::cuda
