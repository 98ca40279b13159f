// Puts tiles of items in the order of one digit of their keys, 8 bits. A radix sort does so pass by
// pass from the lowest digit on. Items of one digit keep their order.
#pragma once

#include "gradus/cuda/kernels/lanes.cuh"

namespace gradus::cuda {

inline constexpr int kSortBatch = 16;  // items of a thread
inline constexpr int kSortTile = kScanThreads * kSortBatch;
inline constexpr int kDigitBits = 8;
inline constexpr int kDigits = 1 << kDigitBits;

template <class Key>
__device__ unsigned digit_of(Key key, int shift) {
  return static_cast<unsigned>(key >> shift) & (kDigits - 1);
}

// Where item k of this thread lies in its tile. Each warp has neighbouring items, and batch k of a
// warp is 32 neighbours.
__device__ inline int place_in_tile(int k) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  return (warp * kSortBatch + k) * 32 + lane;
}

// The lanes of the warp with the same digit as this one. (__match_any_sync takes longer the more
// digits there are.)
__device__ inline unsigned lanes_with(unsigned digit) {
  unsigned same = 0xffffffffu;
#pragma unroll
  for (int bit = 0; bit < kDigitBits; ++bit) {
    const bool set = digit >> bit & 1;
    const unsigned lanes = __ballot_sync(0xffffffffu, set);
    same &= set ? lanes : ~lanes;
  }
  return same;
}

// A row for each warp of the block.
using DigitCounts = unsigned[kDigits];

// to[k]: where item k goes in the order of the digits. Each thread has kDigits / threads
// neighbouring digits. Returns how many items have lower digits than these, and in `total` how many
// have these, counted over all threads. `threads`: of the block, as for scan_lanes.
// REQUIRES: nobody reads `count` any more.
template <class Key>
__device__ Prefix<unsigned> order_by_digit(const Key (&key)[kSortBatch], int shift, int threads,
                                           DigitCounts* count, unsigned (&to)[kSortBatch]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned lanes_before = (1u << lane) - 1;
  unsigned* const of_warp = count[threadIdx.x / 32];
  for (int d = lane; d < kDigits; d += 32) of_warp[d] = 0;
  __syncwarp();
  // The first lane of each digit counts for all of them, and tells the others afterwards: so no
  // step waits for the one before. Meanwhile to[k] holds three numbers, from the lowest bit on:
  // that lane (5 bits), how many lanes before this one have the digit (5 bits), and what that lane
  // has found.
#pragma unroll
  for (int k = 0; k < kSortBatch; ++k) {
    const unsigned digit = digit_of(key[k], shift), same = lanes_with(digit);
    const auto before = static_cast<unsigned>(__popc(same & lanes_before));
    to[k] = static_cast<unsigned>(__ffs(static_cast<int>(same)) - 1) | before << 5;
    if (before == 0) to[k] |= atomicAdd(&of_warp[digit], static_cast<unsigned>(__popc(same))) << 10;
    __syncwarp();
  }
#pragma unroll
  for (int k = 0; k < kSortBatch; ++k) {
    const unsigned found = shuffle(to[k], static_cast<int>(to[k] & 31), 32) >> 10;
    to[k] = found + (to[k] >> 5 & 31);
  }
  __syncthreads();

  // Counts become places: behind those of lower digits, and of this digit in warps before.
  const int warps = threads / 32, digits = kDigits / threads;
  unsigned total = 0;
  for (int d = 0; d < digits; ++d)
    for (int w = 0; w < warps; ++w) {
      unsigned& here = count[w][static_cast<int>(threadIdx.x) * digits + d];
      const unsigned items = here;
      here = total;
      total += items;
    }
  const unsigned begin = scan_lanes(Counting{}, total, threads).before;
  for (int d = 0; d < digits; ++d)
    for (int w = 0; w < warps; ++w) count[w][static_cast<int>(threadIdx.x) * digits + d] += begin;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kSortBatch; ++k) to[k] += of_warp[digit_of(key[k], shift)];
  return {begin, total};
}

// Brings item k of every thread to place to[k] of the tile. `space`: shared, a tile of items.
template <class Item, class Space>
__device__ void exchange(const unsigned (&to)[kSortBatch], Item (&item)[kSortBatch], Space* space) {
  __syncthreads();  // it may still be read by a call before
#pragma unroll
  for (int k = 0; k < kSortBatch; ++k) space[to[k]] = item[k];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kSortBatch; ++k) item[k] = static_cast<Item>(space[place_in_tile(k)]);
}

}  // namespace gradus::cuda
