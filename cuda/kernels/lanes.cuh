// Scans over neighbouring threads: what each needs of those before it, and what all have together.
#pragma once

#include "gradus/tensor/math/scan.h"

namespace gradus::cuda {

inline constexpr int kScanThreads = 256;  // of a block
inline constexpr int kScanWarps = kScanThreads / 32;

// A sum of counts, as a fold of lanes.
struct Counting {
  using State = unsigned;
  __device__ static State start() { return 0; }
  __device__ static State combine(State a, State b) { return a + b; }
};

template <class T>
__device__ T shuffle(T value, int lane, int width) {
  return __shfl_sync(0xffffffffu, value, lane, width);
}
template <class T>
__device__ Candidate<T> shuffle(Candidate<T> s, int lane, int width) {
  return {shuffle(s.value, lane, width), shuffle(s.index, lane, width)};
}
template <class T>
__device__ T shuffle_up(T value, int reach, int width) {
  return __shfl_up_sync(0xffffffffu, value, static_cast<unsigned>(reach), width);
}
template <class T>
__device__ Candidate<T> shuffle_up(Candidate<T> s, int reach, int width) {
  return {shuffle_up(s.value, reach, width), shuffle_up(s.index, reach, width)};
}

// The scan of a thread among its neighbours: the fold of all before it, and of all.
template <class State>
struct Prefix {
  State before, total;
};

// Scans over `width` neighbouring threads, a power of two up to a warp. Each thread takes in, in
// step r, what the thread r before it has: the fold of r threads. After log2(width) steps it has
// all up to its own.
template <class S, class State = typename S::State>
__device__ Prefix<State> scan_warp(const S& scan, State value, int width) {
  const int lane = static_cast<int>(threadIdx.x) & (width - 1);
  for (int reach = 1; reach < width; reach *= 2) {
    const State other = shuffle_up(value, reach, width);
    if (lane >= reach) value = scan.combine(other, value);
  }
  const State before = shuffle_up(value, 1, width);
  return {lane > 0 ? before : scan.start(), shuffle(value, width - 1, width)};
}

// Scans over the warps of the block: `warps` of them, a power of two. All threads of a warp have
// its value. REQUIRES: every thread of the block calls this.
template <class S, class State = typename S::State>
__device__ Prefix<State> scan_warps(const S& scan, State value, int warps) {
  __shared__ State of_warp[kScanWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  __syncthreads();  // of_warp may still be read by a call before
  if (threadIdx.x % 32 == 0) of_warp[warp] = value;
  __syncthreads();
  // Lane w of every warp has the value of warp w.
  const auto all = scan_warp(scan, of_warp[static_cast<int>(threadIdx.x) & (warps - 1)], warps);
  return {shuffle(all.before, warp, warps), all.total};
}

// Scans over `lanes` neighbouring threads: a power of two up to a warp, or those of the block, up
// to kScanThreads. The latter scans its warps and then their totals. REQUIRES: every thread of the
// block calls this.
template <class S, class State = typename S::State>
__device__ Prefix<State> scan_lanes(const S& scan, State value, int lanes) {
  const Prefix<State> mine = scan_warp(scan, value, ::min(lanes, 32));
  if (lanes <= 32) return mine;
  const Prefix<State> warps = scan_warps(scan, mine.total, lanes / 32);
  return {scan.combine(warps.before, mine.before), warps.total};
}

}  // namespace gradus::cuda
