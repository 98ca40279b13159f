// Scans along one dimension: of lines of n elements, whose folds are those of tensor/scan.h.
//
// scan_rows is for lines whose elements lie closer together than the lines do: a thread folds a few
// neighbouring elements, the threads of a line scan what they have, and a loop carries the fold
// from tile to tile. scan_columns is for the others: neighbouring threads have neighbouring lines.
//
// Few long lines are split into segments, in three launches: a first one folds every segment and
// writes the totals to a table, scan_totals turns these into what comes before each segment, and
// the last one scans the segments from there. All borders follow from the shape, so that a result
// does not depend on the order in which blocks run. A product that overflows within a segment may
// differ from that of a loop, which might have met a zero first.
#pragma once

#include "gradus/cuda/kernels/lanes.cuh"
#include "gradus/cuda/kernels/strided.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

inline constexpr int kScanBatch = 8;       // loads of scan_columns that are under way
inline constexpr int kTotalsOfThread = 4;  // in scan_totals
inline constexpr int kMaxSegments = kScanThreads * kTotalsOfThread;

enum class ScanPass { whole, totals, from_totals };

// `lines` walks over values, x and indices, without the dimension, along which elements are `step`
// apart. The table has a row of a state for each line, for each segment.
template <class T, class State>
struct ScanArgs {
  Strided<3> lines;
  int64_t step[3];
  int64_t n, segment;
  bool vectors;  // elements are neighbours, and each line of x and values starts aligned
  ScanPass pass;
  State* table;
  T* values;
  const T* x;
  int64_t* indices;
};

// Lines of 2^lane_bits threads each: up to a warp, or the block; block y has segment y.
template <class S, class T, class State = typename S::State>
__global__ void __launch_bounds__(kScanThreads)
    scan_rows(const S scan, const ScanArgs<T, State> args, int lane_bits) {
  constexpr int V = vector_width<T>;
  const int lanes = 1 << lane_bits, lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int64_t line = (int64_t{blockIdx.x} * kScanThreads + threadIdx.x) >> lane_bits;
  const bool valid = line < args.lines.numel;
  const auto at = offsets_of(args.lines, valid ? line : 0);
  const int64_t begin = blockIdx.y * args.segment, end = ::min(begin + args.segment, args.n);
  const int64_t entry = blockIdx.y * args.lines.numel + line;
  State carry = args.pass == ScanPass::from_totals && valid ? args.table[entry] : scan.start();
  for (int64_t first = begin; first < end; first += lanes * V) {
    const int64_t i = first + lane * V;
    const int count = valid ? static_cast<int>(::min(end - i, int64_t{V})) : 0;
    const bool as_vector = args.vectors && count == V;
    const T* const from = args.x + at.at[1] + i * args.step[1];
    Vector<T, V> element;
    if (as_vector)
      element = load_vector<V>(from);
    else
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (v < count) element.at[v] = from[v * args.step[1]];
    State state[V];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      state[v] = v < count ? scan.enter(element.at[v], i + v) : scan.start();
      if (v > 0) state[v] = scan.combine(state[v - 1], state[v]);
    }
    const Prefix<State> prefix = scan_lanes(scan, state[V - 1], lanes);
    const State before = scan.combine(carry, prefix.before);
    carry = scan.combine(carry, prefix.total);
    if (args.pass == ScanPass::totals) continue;

#pragma unroll
    for (int v = 0; v < V; ++v) {
      state[v] = scan.combine(before, state[v]);
      element.at[v] = scan.value(state[v]);
    }
    T* const to = args.values + at.at[0] + i * args.step[0];
    if (as_vector)
      store_vector(to, element);
    else
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (v < count) to[v * args.step[0]] = element.at[v];
    if constexpr (S::indexed)
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (v < count) args.indices[at.at[2] + (i + v) * args.step[2]] = state[v].index;
  }
  if (args.pass == ScanPass::totals && valid && lane == 0) args.table[entry] = carry;
}

// A thread for each line of each segment.
template <class S, class T, class State = typename S::State>
__global__ void __launch_bounds__(kScanThreads)
    scan_columns(const S scan, const ScanArgs<T, State> args) {
  const int64_t lines = args.lines.numel;
  const int64_t thread = int64_t{blockIdx.x} * kScanThreads + threadIdx.x;
  const int64_t segment = thread / lines, begin = segment * args.segment;
  if (begin >= args.n) return;
  const int64_t end = ::min(begin + args.segment, args.n);
  const auto at = offsets_of(args.lines, thread - segment * lines);
  State state = args.pass == ScanPass::from_totals ? args.table[thread] : scan.start();
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
      if (args.pass == ScanPass::totals) continue;
      args.values[at.at[0] + i * args.step[0]] = scan.value(state);
      if constexpr (S::indexed) args.indices[at.at[2] + i * args.step[2]] = state.index;
    }
  }
  if (args.pass == ScanPass::totals) args.table[thread] = state;
}

// The total of each segment becomes the fold of the segments before it; a block for each line.
// REQUIRES: segments <= kMaxSegments.
template <class S, class State = typename S::State>
__global__ void __launch_bounds__(kScanThreads)
    scan_totals(const S scan, int64_t lines, int segments, State* table) {
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
