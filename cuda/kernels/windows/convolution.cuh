// Convolutions by implicit GEMM with multiply-adds: tiles of the matrix of windows are
// gathered from the tensor itself, so the matrix never exists (implicit_gemm.cuh).
//
// Idea. The ladder of products (matmul/vectorized.cuh), with tiles that are gathered. Warps make
// compact rectangles and threads squares in registers, and the next tile is on its way while one is
// multiplied. Few threads find the spots of the depth, and put them into shared memory.
// Next. Tensor cores, as for products (convolution_tensor_cores.cuh).
#pragma once

#include "gradus/cuda/kernels/matmul/vectorized.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/windows/implicit_gemm.cuh"

namespace gradus::cuda {

// A tile of kLanes x kDepth elements on its way to shared memory: fetch(value) reads it into
// registers, store writes it. Threads run along the depth or across it, whichever lies closer
// together in memory.
template <class T, int kLanes, int kDepth, int kThreads, bool kAlongDepth>
class GatheredTile {
  static constexpr int kUnits = kLanes * kDepth / kThreads;
  static_assert(kLanes * kDepth % kThreads == 0, "threads share a tile evenly");

 public:
  using Tile = T[kDepth][kLanes + 4];

  template <class F>
  __device__ void fetch(const F& value) {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) units_[u] = value(lane(u), depth(u));
  }
  __device__ void store(Tile& tile) const {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) tile[depth(u)][lane(u)] = units_[u];
  }
  // Where threads run across the tile, each has one lane.
  static __device__ int own_lane() { return static_cast<int>(threadIdx.x) % kLanes; }

 private:
  static __device__ int index(int u) { return static_cast<int>(threadIdx.x) + u * kThreads; }
  static __device__ int lane(int u) { return kAlongDepth ? index(u) / kDepth : index(u) % kLanes; }
  static __device__ int depth(int u) { return kAlongDepth ? index(u) % kDepth : index(u) / kLanes; }

  T units_[kUnits];
};

// `count` elements in groups of 4, `gap` apart, from shared memory to registers.
template <int count, int gap, class T>
__device__ void read_fours(const T* from, T (&to)[count]) {
  struct alignas(16) Four {
    T at[4];
  };
#pragma unroll
  for (int g = 0; g < count / 4; ++g)
    *reinterpret_cast<Four*>(&to[4 * g]) = *reinterpret_cast<const Four*>(from + g * gap);
}

template <class T, class S, ConvolutionPass part>
__global__ void __launch_bounds__(S::kThreads, S::kResident)
    convolution_kernel(const ConvolutionArgs<T> args) {
  wait_for_earlier_kernels();
  constexpr bool kOfWeight = part == ConvolutionPass::wgrad;
  using LoaderA = GatheredTile<T, S::kRows, S::kDepth, S::kThreads, true>;
  using LoaderB = GatheredTile<T, S::kCols, S::kDepth, S::kThreads, kOfWeight>;
  alignas(16) __shared__ typename LoaderA::Tile a_tiles[2];
  alignas(16) __shared__ typename LoaderB::Tile b_tiles[2];
  constexpr int kSteps = 32 / S::kDepth;  // whose depth is found at once
  static_assert(S::kThreads % S::kCols == 0, "threads run across columns");
  __shared__ Spot columns[S::kCols], depths[2][32];

  const int t = static_cast<int>(threadIdx.x);
  const ConvolutionBlock block(args, S::kRows, S::kCols);
  const int first_row = block.first_row, first_column = block.first_column, group = block.group;
  const int begin = block.begin(args), end = block.end(args);

  const auto column_spot = [&](int i) {
    return kOfWeight ? tap_spot<part>(args, i, group) : place_spot<part>(args, i, group);
  };
  const auto find_depths = [&](int which) {
    const int i = begin + which * 32 + t;
    if (t < 32 && i < end)
      depths[which % 2][t] =
          kOfWeight ? place_spot<part>(args, i, group) : tap_spot<part>(args, i, group);
  };
  for (int c = t; c < S::kCols; c += S::kThreads)
    if (first_column + c < args.columns) columns[c] = column_spot(first_column + c);
  find_depths(0), find_depths(1);
  __syncthreads();
  const Spot own_column =
      first_column + LoaderB::own_lane() < args.columns ? columns[LoaderB::own_lane()] : Spot{};

  const auto gathered = [&](const Spot& column, const Spot& depth) {
    return is_inside(args, column, depth) ? args.b[column.in_b + depth.in_b] : T(0);
  };
  LoaderA a;
  LoaderB b;
  const auto fetch = [&](int step) {
    const int left = end - begin - step * S::kDepth;
    const Spot* const terms = &depths[step / kSteps % 2][step % kSteps * S::kDepth];
    a.fetch([&](int row, int d) {
      return first_row + row < args.rows && d < left
                 ? args.a[(first_row + row) * args.a_row + terms[d].in_other]
                 : T(0);
    });
    b.fetch([&](int column, int d) {
      return first_column + column < args.columns && d < left
                 ? gathered(kOfWeight ? columns[column] : own_column, terms[d])
                 : T(0);
    });
  };

  constexpr int kWarpsAcross = S::kCols / S::kWarpCols;
  constexpr int kLanesAcross = S::kWarpCols / S::kThreadCols;
  constexpr int kRowGap = 4 * (S::kWarpRows / S::kThreadRows), kColGap = 4 * kLanesAcross;
  const int warp = t / 32, lane = t % 32;
  const int row = warp / kWarpsAcross * S::kWarpRows + lane / kLanesAcross * 4;
  const int col = warp % kWarpsAcross * S::kWarpCols + lane % kLanesAcross * 4;

  T sum[S::kThreadRows][S::kThreadCols] = {};
  const int steps = (end - begin + S::kDepth - 1) / S::kDepth;
  fetch(0);
  a.store(a_tiles[0]), b.store(b_tiles[0]);
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const int current = step % 2;
    const bool more = step + 1 < steps;
    if (more) fetch(step + 1);
    // The next depths replace those of this step, which were last read before the barrier.
    if (step % kSteps == kSteps - 1) find_depths(step / kSteps + 2);
#pragma unroll
    for (int i = 0; i < S::kDepth; ++i) {
      alignas(16) T from_a[S::kThreadRows];
      alignas(16) T from_b[S::kThreadCols];
      read_fours<S::kThreadRows, kRowGap>(&a_tiles[current][i][row], from_a);
      read_fours<S::kThreadCols, kColGap>(&b_tiles[current][i][col], from_b);
#pragma unroll
      for (int r = 0; r < S::kThreadRows; ++r)
#pragma unroll
        for (int c = 0; c < S::kThreadCols; ++c) sum[r][c] += from_a[r] * from_b[c];
    }
    // The other buffers were last read before the barrier of the step before.
    if (more) a.store(a_tiles[current ^ 1]), b.store(b_tiles[current ^ 1]);
    __syncthreads();
  }

  T* const out = block.out(args);
#pragma unroll
  for (int r = 0; r < S::kThreadRows; ++r) {
    const int y = first_row + row + r / 4 * kRowGap + r % 4;
    if (y >= args.rows) continue;
    const T bias = block.bias(args, y);
#pragma unroll
    for (int c = 0; c < S::kThreadCols; ++c) {
      const int x = col + c / 4 * kColGap + c % 4;
      if (first_column + x < args.columns)
        out[y * args.out_row + columns[x].in_other] = sum[r][c] + bias;
    }
  }
}

}  // namespace gradus::cuda
