// The scan of few long lines, which reads every element once. A block scans a tile of a line,
// writes what the whole tile folds to, and reads what the blocks of the tiles before it have
// written (after D. Merrill and M. Garland, Single-pass parallel prefix scan with decoupled
// look-back, 2016).
//
// There, a tile looks back until it meets one that knows all before itself, so that the order of
// sums depends on time. Here the tiles of a line form groups, one tile for each thread of a block.
// The part before a tile has two sources: all groups before its own, whose fold their last tiles
// hand on, and the tiles of the group before it, in the fixed tree of a block's scan.
#pragma once

#include <cstring>

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/scan.cuh"

namespace gradus::cuda {

inline constexpr int kTileVectors = 4;  // of a thread
template <class T>
inline constexpr int64_t kScanTile = int64_t{kScanThreads} * kTileVectors* vector_width<T>;

// A state that another block waits for, 32 bits to a word, each under a mark: none is taken for
// said before it is. All of it starts as 0.
template <class State>
struct Said {
  using Word = unsigned long long;  // as atomicAdd wants it
  static constexpr int kWords = sizeof(State) / sizeof(unsigned);
  static_assert(sizeof(State) % sizeof(unsigned) == 0);

  Word words[kWords];

  __device__ void say(const State& state) {
    unsigned bits[kWords];
    memcpy(bits, &state, sizeof(state));
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      *static_cast<volatile Word*>(&words[w]) = Word{1} << 32 | bits[w];
  }
  __device__ State wait() const {
    unsigned bits[kWords];
    bool all = false;
    while (!all) {
      all = true;
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        const Word word = *static_cast<const volatile Word*>(&words[w]);
        bits[w] = static_cast<unsigned>(word);
        all &= word >> 32 != 0;
      }
    }
    State state;
    memcpy(&state, bits, sizeof(state));
    return state;
  }
};

// The messages of tiles, [line][tile], and those of the last tile of a group about all tiles up to
// itself, [line][group]. `next`, too, starts as 0.
template <class State>
struct ScanTiles {
  int64_t tiles, groups;  // of a line
  Said<State>*totals, *sums;
  unsigned long long* next;
};

template <class S, class T, class State = typename S::State>
__global__ void __launch_bounds__(kScanThreads)
    scan_tiles(const S scan, const ScanArgs<T> args, const ScanTiles<State> all) {
  wait_for_earlier_kernels();
  constexpr int V = vector_width<T>;
  __shared__ int64_t number;
  // Tiles are taken in turn, so that all before this one have been begun.
  if (threadIdx.x == 0) number = static_cast<int64_t>(atomicAdd(all.next, 1));
  __syncthreads();
  const int64_t line = number / all.tiles, tile = number - line * all.tiles;
  const int64_t group = tile / kScanThreads;
  const int thread = static_cast<int>(threadIdx.x),
            in_group = static_cast<int>(tile % kScanThreads);
  const auto at = offsets_of(args.lines, line);

  // Each warp has neighbouring elements, and vector k of a warp is 32 neighbours.
  const int64_t i = tile * kScanTile<T> + (thread / 32 * kTileVectors * 32 + thread % 32) * V;
  constexpr int kNext = 32 * V;
  Vector<T, V> element[kTileVectors];
#pragma unroll
  for (int k = 0; k < kTileVectors; ++k)
    element[k] = args.load(at, i + k * kNext, args.count_from(i + k * kNext));
  State state[kTileVectors][V], before[kTileVectors], total = scan.start();
#pragma unroll
  for (int k = 0; k < kTileVectors; ++k) {
    args.fold(scan, element[k], i + k * kNext, args.count_from(i + k * kNext), state[k]);
    const Prefix<State> prefix = scan_warp(scan, state[k][V - 1], 32);
    before[k] = scan.combine(total, prefix.before);
    total = scan.combine(total, prefix.total);
  }
  const Prefix<State> warps = scan_warps(scan, total, kScanWarps);

  Said<State>* const totals = all.totals + number;
  if (thread == 0) totals->say(warps.total);
  const State other = thread < in_group ? totals[thread - in_group].wait() : scan.start();
  State earlier = scan_lanes(scan, other, kScanThreads).total;
  Said<State>* const sum = all.sums + line * all.groups + group;
  if (group > 0) earlier = scan.combine(sum[-1].wait(), earlier);
  if (in_group == kScanThreads - 1 && thread == 0) sum->say(scan.combine(earlier, warps.total));
  earlier = scan.combine(earlier, warps.before);
#pragma unroll
  for (int k = 0; k < kTileVectors; ++k)
    args.store(scan, at, i + k * kNext, args.count_from(i + k * kNext),
               scan.combine(earlier, before[k]), state[k]);
}

}  // namespace gradus::cuda
