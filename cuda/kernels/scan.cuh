// Scans along one dimension: of lines of n elements, whose folds are those of tensor/math/scan.h
// and log_sum.cuh.
//
// scan_rows is for lines whose elements lie closer together than the lines do. A thread folds a few
// neighbouring elements, the threads of a line scan what they have, and a loop carries the fold
// from tile to tile. (Few long ones of them: scan_tiles.cuh.) scan_columns is for the others:
// neighbouring threads have neighbouring lines.
//
// Few long columns are split into segments, in three launches. The first folds every segment and
// writes the totals to a table. scan_totals turns these into what comes before each segment. The
// last scans the segments from there. All borders follow from the shape, so that a result does not
// depend on the order in which blocks run. A product that overflows within a segment may differ
// from that of a loop, which might have met a zero first.
#pragma once

#include "gradus/cuda/kernels/lanes.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/strided.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

inline constexpr int kScanBatch = 8;       // loads of scan_columns that are under way
inline constexpr int kTotalsOfThread = 4;  // in scan_totals
inline constexpr int kMaxSegments = kScanThreads * kTotalsOfThread;

// `lines` walks over values, x and indices, without the dimension, along which elements are `step`
// apart.
template <class T>
struct ScanArgs {
  static constexpr int V = vector_width<T>;

  Strided<3> lines;
  int64_t step[3];
  int64_t n;
  bool vectors;  // elements are neighbours, and each line of x and values starts aligned
  T* values;
  const T* x;
  int64_t* indices;

  // How many of V elements there are from element i of a line on.
  __device__ int count_from(int64_t i) const {
    return static_cast<int>(::max(::min(n - i, int64_t{V}), int64_t{0}));
  }
  // Loads these `count` elements of the line that begins `at`; the others stay unset.
  __device__ Vector<T, V> load(const Offsets<3, int64_t>& at, int64_t i, int count) const {
    const T* const from = x + at.at[1] + i * step[1];
    if (vectors && count == V) return load_vector<V>(from);
    Vector<T, V> out;
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (v < count) out.at[v] = from[v * step[1]];
    return out;
  }
  // state[v]: of elements i to i + v.
  template <class S, class State>
  __device__ void fold(const S& scan, const Vector<T, V>& element, int64_t i, int count,
                       State (&state)[V]) const {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      state[v] = v < count ? scan.enter(element.at[v], i + v) : scan.start();
      if (v > 0) state[v] = scan.combine(state[v - 1], state[v]);
    }
  }
  // The results, where `before` is the fold of all elements before i.
  template <class S, class State>
  __device__ void store(const S& scan, const Offsets<3, int64_t>& at, int64_t i, int count,
                        const State& before, State (&state)[V]) const {
    Vector<T, V> element;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      state[v] = scan.combine(before, state[v]);
      element.at[v] = scan.value(state[v]);
    }
    T* const to = values + at.at[0] + i * step[0];
    if (vectors && count == V)
      store_vector(to, element);
    else
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (v < count) to[v * step[0]] = element.at[v];
    if constexpr (S::indexed)
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (v < count) indices[at.at[2] + (i + v) * step[2]] = state[v].index;
  }
};

// Lines of 2^lane_bits threads each: up to a warp, or the block.
template <class S, class T, class State = typename S::State>
__global__ void __launch_bounds__(kScanThreads)
    scan_rows(const S scan, const ScanArgs<T> args, int lane_bits) {
  wait_for_earlier_kernels();
  constexpr int V = vector_width<T>;
  const int lanes = 1 << lane_bits, lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int64_t line = (int64_t{blockIdx.x} * kScanThreads + threadIdx.x) >> lane_bits;
  const bool valid = line < args.lines.numel;
  const auto at = offsets_of(args.lines, valid ? line : 0);
  State carry = scan.start();
  for (int64_t first = 0; first < args.n; first += lanes * V) {
    const int64_t i = first + lane * V;
    const int count = valid ? args.count_from(i) : 0;
    State state[V];
    args.fold(scan, args.load(at, i, count), i, count, state);
    const Prefix<State> prefix = scan_lanes(scan, state[V - 1], lanes);
    args.store(scan, at, i, count, scan.combine(carry, prefix.before), state);
    carry = scan.combine(carry, prefix.total);
  }
}

enum class ScanPass { whole, totals, from_totals };

// The table has a row of a state for each line, for each segment.
template <class State>
struct ScanSegments {
  int64_t length;
  ScanPass pass;
  State* table;
};

// A thread for each line of each segment.
template <class S, class T, class State = typename S::State>
__global__ void __launch_bounds__(kScanThreads)
    scan_columns(const S scan, const ScanArgs<T> args, const ScanSegments<State> segments) {
  wait_for_earlier_kernels();
  const int64_t lines = args.lines.numel;
  const int64_t thread = int64_t{blockIdx.x} * kScanThreads + threadIdx.x;
  const int64_t segment = thread / lines, begin = segment * segments.length;
  if (begin >= args.n) return;
  const int64_t end = ::min(begin + segments.length, args.n);
  const auto at = offsets_of(args.lines, thread - segment * lines);
  State state = segments.pass == ScanPass::from_totals ? segments.table[thread] : scan.start();
  for (int64_t first = begin; first < end; first += kScanBatch) {
    T element[kScanBatch];
#pragma unroll
    for (int b = 0; b < kScanBatch; ++b)
      if (first + b < end) element[b] = args.x[at.at[1] + (first + b) * args.step[1]];
#pragma unroll
    for (int b = 0; b < kScanBatch; ++b) {
      const int64_t i = first + b;
      if (i >= end) break;
      state = scan.combine(state, scan.enter(element[b], i));
      if (segments.pass == ScanPass::totals) continue;
      args.values[at.at[0] + i * args.step[0]] = scan.value(state);
      if constexpr (S::indexed) args.indices[at.at[2] + i * args.step[2]] = state.index;
    }
  }
  if (segments.pass == ScanPass::totals) segments.table[thread] = state;
}

// The total of each segment becomes the fold of the segments before it; a block for each line.
// REQUIRES: segments <= kMaxSegments.
template <class S, class State = typename S::State>
__global__ void __launch_bounds__(kScanThreads)
    scan_totals(const S scan, int64_t lines, int segments, State* table) {
  wait_for_earlier_kernels();
  const int first = static_cast<int>(threadIdx.x) * kTotalsOfThread;
  State before[kTotalsOfThread], sum = scan.start();
#pragma unroll
  for (int k = 0; k < kTotalsOfThread; ++k) {
    before[k] = sum;
    if (first + k < segments) sum = scan.combine(sum, table[(first + k) * lines + blockIdx.x]);
  }
  const Prefix<State> prefix = scan_lanes(scan, sum, kScanThreads);
#pragma unroll
  for (int k = 0; k < kTotalsOfThread; ++k)
    if (first + k < segments)
      table[(first + k) * lines + blockIdx.x] = scan.combine(prefix.before, before[k]);
}

}  // namespace gradus::cuda
