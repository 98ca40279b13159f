// The search for elements that are not 0, in two passes over tiles: the first counts those of each
// tile; once the counts have been summed up, the second knows where each tile writes what it found.
#pragma once

#include "gradus/cuda/kernels/lanes.cuh"
#include "gradus/cuda/kernels/strided.cuh"

namespace gradus::cuda {

inline constexpr int kFindBatch = 8;  // elements of a thread
inline constexpr int kFindTile = kScanThreads * kFindBatch;

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

// What is written of the element number i, in row-major order, which is the `place`-th one found:
// its coordinates, a row of `found` elements for each,
struct WriteCoordinates {
  int rank;
  int64_t size[kMaxDims];
  int64_t found;
  int64_t* out;

  __device__ void operator()(int64_t i, int64_t place) const {
    for (int d = rank - 1; d > 0; --d) {
      const int64_t outer = i / size[d];
      out[d * found + place] = i - outer * size[d];
      i = outer;
    }
    if (rank > 0) out[place] = i;
  }
};

// or the element of another tensor there. `view` walks over it in row-major order, as over x.
template <class Bits>
struct WriteElement {
  Strided<2> view;
  const Bits* from;
  Bits* out;

  __device__ void operator()(int64_t i, int64_t place) const {
    out[place] = from[offsets_of(view, i).at[1]];
  }
};

// counts: of this tile and all before it.
template <class Bits, class Write>
__global__ void __launch_bounds__(kScanThreads)
    write_found(Strided<2> view, Bits mask, const Bits* x, const int64_t* counts, Write write) {
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
    write(int64_t{blockIdx.x} * kFindTile + k * kScanThreads + threadIdx.x,
          tile_begin + before[k * kScanWarps + warp] + in_warp);
  }
}

}  // namespace gradus::cuda
