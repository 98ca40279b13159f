// Sums, means, extremes and variances of rows so short that a thread folds whole ones.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/reduce.cuh"

namespace gradus::cuda {

// Rows of more are not short. One more would let the padding below send all of a warp to one bank.
inline constexpr int kLongestShortRow = 60;
inline constexpr int kShortRowVectors = 2;  // that a thread brings to shared memory
template <class T>
inline constexpr int short_rows_tile = kShortRowVectors* kReduceThreads* vector_width<T>;

// How many rows of n a block takes, so that each block begins at a vector.
template <class T>
GRADUS_HD constexpr int rows_of_block(int n) {
  return short_rows_tile<T> / n / vector_width<T> * vector_width<T>;
}

// Rows of n <= kLongestShortRow neighbours that lie one after the other, `step` apart in out. A
// block brings its rows to shared memory by vectors; then each thread folds whole rows there.
// Where n is even, a place is left out after every 32, so that threads meet different banks.
template <class Op, class Source, class T>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_short_rows(const Op op, int64_t rows, int n, int64_t step, Source x, Results<T> out) {
  wait_for_earlier_kernels();
  using Value = typename Source::Value;
  constexpr int V = vector_width<Value>, kTile = short_rows_tile<Value>;
  __shared__ Value tile[kTile + kTile / 32];
  const int64_t first = int64_t{blockIdx.x} * rows_of_block<Value>(n);
  const int own = static_cast<int>(::min(int64_t{rows_of_block<Value>(n)}, rows - first));
  const auto place = [pads = n % 2 == 0](int i) { return pads ? i + i / 32 : i; };
  const int count = own * n, thread = static_cast<int>(threadIdx.x);
  const Source from = x.from(first * n);
  Vector<Value, V> part[kShortRowVectors];
#pragma unroll
  for (int k = 0; k < kShortRowVectors; ++k) {
    const int i = (k * kReduceThreads + thread) * V;
    if (i + V <= count) part[k] = from.template load<V>(i);
  }
#pragma unroll
  for (int k = 0; k < kShortRowVectors; ++k) {
    const int i = (k * kReduceThreads + thread) * V, to = place(i);
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (i + v < count)
        tile[to + v] = i + V <= count ? part[k].at[v] : from.template load<1>(i + v).at[0];
  }
  __syncthreads();
  for (int r = thread; r < own; r += kReduceThreads) {
    auto sum = Op::template start<T>();
    for (int i = r * n; i < (r + 1) * n; ++i) sum = Op::combine(sum, Op::enter(tile[place(i)]));
    out.store((first + r) * step, Vector<T, 1>{static_cast<T>(op.finish(sum, n))});
  }
}

}  // namespace gradus::cuda
