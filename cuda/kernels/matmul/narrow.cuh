// A kernel beside the ladder, for a large a and few columns: a is read once, at the speed of
// memory.
//
// Idea. A tile of few columns has little to reuse, so what counts is how a is read. A warp has
// kWarpRows rows of a and all columns of b, and its lanes split the terms, 16 bytes each. Steps of
// both operands lie in a ring of stages in shared memory, past the registers (cp.async), so that
// copies of some steps are always under way. The lanes' sums are folded at the end. Each block
// reads b from the L2 cache, which is too slow for blocks of few rows.
//
// Cost. kWarpRows + kCols loads of shared memory for kWarpRows * kCols * 4 multiply-adds.
#pragma once

#include "gradus/cuda/kernels/matmul/tile.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/tensor_core.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

template <int cols>
struct NarrowShape {
  static constexpr int kWarps = 16, kThreads = 32 * kWarps, kResident = 1;
  static constexpr int kWarpRows = 4, kRows = kWarps * kWarpRows, kCols = cols;
  static constexpr int kStep = 32 * 4, kStages = 4;
  static constexpr int kUnits = (kRows + kCols) * 32;  // of four terms, a stage
  static constexpr int kSharedBytes = kStages * kUnits * 16;
};

// REQUIRES: n <= S::kCols; the terms of both operands lie along memory, and their rows are aligned.
template <class S>
__global__ void __launch_bounds__(S::kThreads, S::kResident)
    matmul_narrow(const MatmulArgs<float> args) {
  wait_for_earlier_kernels();
  extern __shared__ uint4 shared[];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int64_t first = int64_t{blockIdx.x} * S::kRows + warp * S::kWarpRows;

  // Begins to copy a step: each warp its rows of a, and every kWarps-th column of b.
  const auto copy = [&](uint4* stage, int64_t k) {
    const int64_t at = k + 4 * lane;
    const int bytes = 4 * static_cast<int>(::max(int64_t{0}, ::min(int64_t{4}, args.k - at)));
    const auto copy_row = [&](const MatmulOperand<float>& x, int64_t row, int64_t rows, int to) {
      const bool inside = bytes > 0 && row < rows;
      copy_later<16>(&stage[to * 32 + lane], inside ? terms(x, row) + at : x.data,
                     inside ? bytes : 0);
    };
#pragma unroll
    for (int r = 0; r < S::kWarpRows; ++r)
      copy_row(args.a, first + r, args.m, warp * S::kWarpRows + r);
#pragma unroll
    for (int c = 0; c < S::kCols; c += S::kWarps)
      if (c + warp < S::kCols) copy_row(args.b, c + warp, args.n, S::kRows + c + warp);
    end_copy_group();
  };

  float sums[S::kWarpRows][S::kCols] = {};
#pragma unroll
  for (int ahead = 0; ahead < S::kStages - 1; ++ahead)
    copy(&shared[ahead * S::kUnits], ahead * S::kStep);
  int current = 0, next = S::kStages - 1;
  for (int64_t k = 0; k < args.k; k += S::kStep) {
    wait_for_copies<S::kStages - 2>();
    __syncthreads();  // after which nobody reads the stage of the step before
    copy(&shared[next * S::kUnits], k + (S::kStages - 1) * S::kStep);
    const auto* const stage =
        reinterpret_cast<const Vector<float, 4>*>(&shared[current * S::kUnits]) + lane;
    Vector<float, 4> a[S::kWarpRows];
#pragma unroll
    for (int r = 0; r < S::kWarpRows; ++r) a[r] = stage[(warp * S::kWarpRows + r) * 32];
#pragma unroll
    for (int c = 0; c < S::kCols; ++c) {
      const Vector<float, 4> b = stage[(S::kRows + c) * 32];
#pragma unroll
      for (int r = 0; r < S::kWarpRows; ++r)
#pragma unroll
        for (int v = 0; v < 4; ++v) sums[r][c] += a[r].at[v] * b.at[v];
    }
    next = current;
    current = current + 1 == S::kStages ? 0 : current + 1;
  }

#pragma unroll
  for (int r = 0; r < S::kWarpRows; ++r)
#pragma unroll
    for (int c = 0; c < S::kCols; ++c) {
#pragma unroll
      for (int reach = 16; reach > 0; reach /= 2)
        sums[r][c] += __shfl_xor_sync(0xffffffffu, sums[r][c], reach);
      if (lane == (r * S::kCols + c) % 32) store(args, first + r, c, sums[r][c]);
    }
}

}  // namespace gradus::cuda
