// The search for elements that are not 0, in two passes over tiles: the first counts those of each
// tile; once the counts have been summed up, the second knows where each tile writes.
#pragma once

#include "gradus/cuda/kernels/lanes.cuh"
#include "gradus/cuda/kernels/strided.cuh"

namespace gradus::cuda {

inline constexpr int kFindBatch = 8;  // elements of a thread
inline constexpr int kFindTile = kScanThreads * kFindBatch;

// The sizes that coordinates count within.
struct CoordinateSizes {
  int rank;
  int64_t size[kMaxDims];
};

// Bit k says whether element kScanThreads * k + threadIdx.x of the tile is not 0: whether any bit
// of `mask` is set there. `view` walks over x in row-major order.
template <class Bits>
__device__ unsigned find_in_tile(const Strided<2>& view, const Bits* x, Bits mask) {
  unsigned found = 0;
#pragma unroll
  for (int k = 0; k < kFindBatch; ++k) {
    const int64_t i = int64_t{blockIdx.x} * kFindTile + k * kScanThreads + threadIdx.x;
    if (i < view.numel && (x[offsets_of(view, i).at[1]] & mask) != 0) found |= 1u << k;
  }
  return found;
}

template <class Bits>
__global__ void __launch_bounds__(kScanThreads)
    count_found(Strided<2> view, Bits mask, const Bits* x, int64_t* counts) {
  const auto found = static_cast<unsigned>(__popc(find_in_tile(view, x, mask)));
  const unsigned total = scan_lanes(Counting{}, found, kScanThreads).total;
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// counts: of this tile and all before it. out: a row of `found` elements for each coordinate.
template <class Bits>
__global__ void __launch_bounds__(kScanThreads)
    write_nonzero(Strided<2> view, CoordinateSizes shape, int64_t found, Bits mask, const Bits* x,
                  const int64_t* counts, int64_t* out) {
  // Of each batch and warp: how many there are; then how many come before in the tile.
  __shared__ unsigned before[kFindBatch * kScanWarps];
  const unsigned mine = find_in_tile(view, x, mask);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < kFindBatch; ++k) {
    const unsigned lanes = __ballot_sync(0xffffffffu, mine >> k & 1);
    if (lane == 0) before[k * kScanWarps + warp] = static_cast<unsigned>(__popc(lanes));
  }
  __syncthreads();
  const bool counts_one = threadIdx.x < kFindBatch * kScanWarps;
  const auto sums = scan_lanes(Counting{}, counts_one ? before[threadIdx.x] : 0, kScanThreads);
  if (counts_one) before[threadIdx.x] = sums.before;
  __syncthreads();
  const int64_t tile_begin = counts[blockIdx.x] - sums.total;
#pragma unroll
  for (int k = 0; k < kFindBatch; ++k) {
    const unsigned lanes = __ballot_sync(0xffffffffu, mine >> k & 1);
    if (!(mine >> k & 1)) continue;
    const auto in_warp = static_cast<unsigned>(__popc(lanes & ((1u << lane) - 1)));
    int64_t* to = out + tile_begin + before[k * kScanWarps + warp] + in_warp;
    int64_t i = int64_t{blockIdx.x} * kFindTile + k * kScanThreads + threadIdx.x;
    for (int d = shape.rank - 1; d > 0; --d) {
      const int64_t outer = i / shape.size[d];
      to[d * found] = i - outer * shape.size[d];
      i = outer;
    }
    if (shape.rank > 0) to[0] = i;
  }
}

}  // namespace gradus::cuda
